"""The paper's experiments, a script each; ``fairmix reproduce`` runs them."""
