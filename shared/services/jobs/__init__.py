"""What is done with a job as a whole, from outside and at its end."""
