"""Files of the OpenAI-compatible API: kept, shown, handed out, and gone when their time has come."""
