"""From what users have (frames, arrays, lists) to numbers, and back."""
