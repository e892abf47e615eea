// The governed tool: an MCP server on stdio with one tool, which records each call that reaches it.
//
//   node tool_server.mjs RECORD TOOL
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [record, name] = process.argv.slice(2);
const tool = {
  name,
  description: "A governed tool of runner-e2e. It gives a receipt and does nothing else.",
  inputSchema: { type: "object", additionalProperties: true },
  annotations: { readOnlyHint: false },
};
let calls = 0;

function answer({ method, params }) {
  if (method === "initialize") {
    return {
      protocolVersion: params?.protocolVersion ?? "2025-06-18",
      capabilities: { tools: {} },
      serverInfo: { name: "runner-e2e", version: "1.0.0" },
    };
  }
  if (method === "tools/list") return { tools: [tool] };
  if (method === "tools/call" && params?.name === name) {
    appendFileSync(record, `${JSON.stringify({ tool: name, arguments: params.arguments ?? {} })}\n`);
    calls += 1;
    return { content: [{ type: "text", text: `receipt ${name}-${calls}` }] };
  }
  return method === "ping" ? {} : undefined;
}

for await (const line of createInterface({ input: process.stdin })) {
  if (!line.trim()) continue;
  const message = JSON.parse(line);
  if (message.id === undefined) continue;
  const result = answer(message);
  const outcome = result ? { result } : { error: { code: -32601, message: "unknown method" } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id: message.id, ...outcome })}\n`);
}
