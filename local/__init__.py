"""The local stack: everything that Azure gives the app, as processes on one machine. Never deployed."""
