#!/bin/sh
# Installs what tests/report/test_browser.py needs: Debian's Chromium with fonts, poppler's pdftotext,
# and axe-core, which looks for what keeps people from reading a page. Run it as root.
set -eu
folder="${FAIRMIX_BROWSER:-${XDG_CACHE_HOME:-$HOME/.cache}/fairmix-browser}"
apt-get update -qq
apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core fonts-liberation \
  poppler-utils
if command -v npm > /dev/null; then
  npm install --silent --no-audit --no-fund --prefix "$folder" axe-core@4
else
  echo "npm is not there, so axe-core is not installed and its tests are skipped" >&2
fi
