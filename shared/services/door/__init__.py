"""What happens when somebody posts a job: checked, written down, started; once, however often it is posted."""
