"""What every provider's adapter uses: faults, codes, waits, credentials and limits, spooling."""
