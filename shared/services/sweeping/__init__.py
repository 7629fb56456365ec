"""The timer's pass: what is late, stuck, about to lapse, or went round the door."""
