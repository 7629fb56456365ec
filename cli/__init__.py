"""The `postern` command: for those who run Postern. Knows the catalogue, and no Azure."""
