// Loaded into Azurite before it starts. Azurite saves its index on the first SIGTERM and drops its handler then, so
// that a second one would end it in the middle of saving. The kernel does send two when the launcher dies with more
// than one thread: a child is told of the death of each thread that it was handed on to.
"use strict";

let closing = false;

for (const signal of ["SIGTERM", "SIGINT"]) {
  process.on(signal, () => {
    const azuriteListens = process.listenerCount(signal) > 1;
    if (!azuriteListens && !closing) process.exit(1);
    closing = true;
  });
}
