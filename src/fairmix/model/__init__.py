"""The model, as the paper's sections 3 and 4 have it: what is sampled, and nothing of how."""
