"""Files of every kind, written with as little as their readers ask for."""
