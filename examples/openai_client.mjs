// A batch from first to last with nothing but the official `openai` client for Node.
//
//     node examples/openai_client.mjs BASE_URL KEY MODEL [SECONDS_BETWEEN_LOOKS [--json]]
//
// It runs unchanged against Postern (BASE_URL is http://127.0.0.1:7071/openai/v1, say) and against the provider
// itself. Prints a line for each step, or with --json everything that was answered: the same steps, under the same
// names, as examples/openai_client.py.

import OpenAI, { APIError, BadRequestError, NotFoundError, toFile } from "openai";

const LINES = 1000;
const ENDPOINT = "/v1/chat/completions";
const OVER = new Set(["completed", "failed", "expired", "cancelled"]);
const PATIENCE_SECONDS = 90;

const [baseURL, apiKey, model, lookEverySeconds = "2", form] = process.argv.slice(2);
if (!model) {
  console.error("usage: node examples/openai_client.mjs BASE_URL KEY MODEL [SECONDS_BETWEEN_LOOKS [--json]]");
  process.exit(2);
}
const client = new OpenAI({ baseURL, apiKey, maxRetries: 0 });
const seen = {};

const line = (customId, asked, text) => ({
  custom_id: customId,
  method: "POST",
  url: ENDPOINT,
  body: { model: asked, messages: [{ role: "user", content: text }], max_completion_tokens: 60 },
});
const jsonl = (lines) => lines.map((each) => JSON.stringify(each) + "\n").join("");

function tickets(count = LINES) {
  const text = (n) => `Ticket ${n}: the battery is empty after ${n % 40} km. It is one year old.`;
  const lines = Array.from({ length: count - 1 }, (_, n) => line(`ticket-${n}`, model, text(n)));
  return jsonl([...lines, line("last one", model, "This ticket is unanswerable. Nobody knows why.")]);
}

async function upload(name, content) {
  const file = await client.files.create({
    file: await toFile(Buffer.from(content), `${name}.jsonl`),
    purpose: "batch",
    expires_after: { anchor: "created_at", seconds: 1209600 },
  });
  seen[`upload, ${name}`] = file;
  return file.id;
}

const create = (file, more = {}) =>
  client.batches.create({ input_file_id: file, endpoint: ENDPOINT, completion_window: "24h", ...more });

async function finished(batch) {
  const deadline = Date.now() + PATIENCE_SECONDS * 1000;
  while (!OVER.has(batch.status)) {
    if (Date.now() > deadline) throw new Error(`batch ${batch.id} is still ${batch.status}`);
    await new Promise((wake) => setTimeout(wake, Number(lookEverySeconds) * 1000));
    batch = await client.batches.retrieve(batch.id);
  }
  return batch;
}

async function goodBatch() {
  const created = await create(await upload("tickets", tickets()), {
    metadata: { project: "tickets", night: "2026-11-30" },
  });
  seen.created = created;
  seen.finished = await finished(created);
  return seen.finished;
}

async function contentOf(file) {
  return await (await client.files.content(file)).text();
}

async function filesOf(batch) {
  for (const [name, file] of [["output", batch.output_file_id], ["error", batch.error_file_id]]) {
    if (!file) continue;
    seen[`${name} file`] = await client.files.retrieve(file);
    // Lines end with \n and nothing else: answers may hold other characters that break lines.
    const rows = (await contentOf(file)).split("\n").filter(Boolean).map((row) => JSON.parse(row));
    rows.sort((a, b) => (a.custom_id < b.custom_id ? -1 : 1));
    seen[`${name} rows`] = rows;
  }
  seen["input again"] = { "is the same": (await contentOf(batch.input_file_id)) === tickets() };
}

async function lists(batch) {
  const others = [];
  for (const n of [0, 1, 2]) others.push(await upload(`other ${n}`, jsonl([line("a", model, "Hello.")])));
  const first = await client.files.list({ limit: 2, purpose: "batch" });
  seen["a page of files"] = { has_more: first.has_more, data: first.data };
  const ids = [];
  for await (const file of client.files.list({ limit: 2, purpose: "batch" })) ids.push(file.id);
  seen["all files"] = {
    "newest first": String(ids.slice(0, 3)) === String([...others].reverse()),
    "all there": ids.includes(batch.input_file_id),
  };
  const made = [];
  for (const file of others) made.push((await create(file)).id);
  const found = [];
  for await (const each of client.batches.list({ limit: 2 })) found.push(each.id);
  seen["all batches"] = {
    "newest first": String(found.slice(0, 3)) === String([...made].reverse()),
    "all there": found.includes(batch.id),
  };
  for (const id of made) await finished(await client.batches.retrieve(id));
}

async function badBatch(name, content) {
  const created = await create(await upload(name, content));
  seen[`created, ${name}`] = created;
  seen[`failed, ${name}`] = await finished(created);
}

async function cancelled() {
  const batch = await create(await upload("cancelled", tickets()));
  seen.cancelling = await client.batches.cancel(batch.id);
  seen.cancelled = await finished(batch);
}

async function refusalOf(call) {
  try {
    await call();
    return { status: 200 };
  } catch (error) {
    if (!(error instanceof APIError)) throw error;
    const kind = error instanceof NotFoundError ? "not found" : error instanceof BadRequestError ? "bad request" : null;
    return { status: error.status, kind, body: error.error };
  }
}

async function refusals(batch) {
  const refused = {
    "unknown batch": () => client.batches.retrieve("batch_0"),
    "unknown file": () => client.files.retrieve("file-0"),
    "content of unknown file": () => client.files.content("file-0"),
    "delete unknown file": () => client.files.delete("file-0"),
    "batch of unknown file": () => create("file-0"),
    "cancel what is over": () => client.batches.cancel(batch.id),
    "other window": () => create(batch.input_file_id, { completion_window: "48h" }),
  };
  for (const [name, call] of Object.entries(refused)) seen[`refused, ${name}`] = await refusalOf(call);
}

async function deleted(batch) {
  for (const [name, file] of [["input", batch.input_file_id], ["output", batch.output_file_id]]) {
    seen[`deleted ${name}`] = await client.files.delete(file);
    seen[`deleted ${name} again`] = await refusalOf(() => client.files.delete(file));
  }
}

// One answer, or several, in a few words.
function told(answer) {
  if (Array.isArray(answer)) return `${answer.length} rows`;
  if ("deleted" in answer) return answer.deleted ? "deleted" : "not deleted";
  if (answer.object === "batch") {
    const counts = Object.entries(answer.request_counts ?? {}).map(([name, count]) => `${count} ${name}`);
    return [answer.status, ...counts].join(", ");
  }
  if (answer.object === "file") return `${answer.filename}, ${answer.bytes} bytes`;
  if (typeof answer.status === "number") return [answer.status, answer.kind].filter(Boolean).join(" ");
  if ("data" in answer) return answer.has_more ? `${answer.data.length} of more` : `${answer.data.length}`;
  return Object.entries(answer).map(([name, value]) => `${name}: ${value ? "yes" : "no"}`).join(", ");
}

const batch = await goodBatch();
await filesOf(batch);
await lists(batch);
await badBatch("bad json", jsonl([line("a", model, "Fine.")]) + "{broken\n");
await badBatch("same id twice", jsonl([line("a", model, "One."), line("a", model, "One.")]));
await cancelled();
await refusals(batch);
await deleted(batch);
if (form === "--json") console.log(JSON.stringify(seen, null, 1));
else for (const [step, answer] of Object.entries(seen)) console.log(`${step.padEnd(32)} ${told(answer)}`);
