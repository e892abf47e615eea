// An adapter of Paperclip that starts a program once a run, as the built-in `process` adapter does,
// and also reports what that one cannot: usage, cost and a session that goes on.
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";

const USAGE = { inputTokens: 100, cachedInputTokens: 40, outputTokens: 10 };
const COST_USD = 0.25;

// What the server itself would give a program; nothing else of its environment is inherited.
function environment({ runId, agent, authToken, runtime }) {
  const { PATH, HOME, TMPDIR, LANG, RUNNER_E2E_EXECUTION } = process.env;
  const { PAPERCLIP_LISTEN_HOST, PAPERCLIP_LISTEN_PORT } = process.env;
  return {
    ...{ PATH, HOME, TMPDIR, LANG, RUNNER_E2E_EXECUTION },
    PAPERCLIP_API_URL: `http://${PAPERCLIP_LISTEN_HOST}:${PAPERCLIP_LISTEN_PORT}`,
    PAPERCLIP_API_KEY: authToken,
    PAPERCLIP_RUN_ID: runId,
    PAPERCLIP_AGENT_ID: agent.id,
    PAPERCLIP_COMPANY_ID: agent.companyId,
    PAPERCLIP_SESSION_ID: runtime.sessionId ?? "",
  };
}

function execute(context) {
  const { config, onLog, onSpawn, runtime } = context;
  return new Promise((resolve) => {
    const child = spawn(config.command, config.args, {
      cwd: config.cwd,
      detached: true,
      env: { ...environment(context), ...config.env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const logged = [];
    child.on("spawn", () => {
      const startedAt = new Date().toISOString();
      logged.push(onSpawn?.({ pid: child.pid, processGroupId: child.pid, startedAt }));
    });
    for (const stream of ["stdout", "stderr"]) {
      child[stream].on("data", (chunk) => logged.push(onLog(stream, chunk.toString())));
    }
    child.on("error", (error) => {
      resolve({ exitCode: null, signal: null, timedOut: false, errorMessage: error.message });
    });
    child.on("close", async (exitCode, signal) => {
      await Promise.all(logged);
      const sessionId = runtime.sessionId ?? randomUUID();
      resolve({
        ...{ exitCode, signal, timedOut: false },
        errorMessage: exitCode === 0 ? null : `the program ended with ${exitCode ?? signal}`,
        ...{ usage: USAGE, usageBasis: "per_run", costUsd: COST_USD, billingType: "metered_api" },
        ...{ provider: "scripted", biller: "scripted", model: "scripted-1" },
        ...{ sessionId, sessionParams: { sessionId }, sessionDisplayId: sessionId },
      });
    });
  });
}

export function createServerAdapter() {
  return {
    type: "scripted_local",
    execute,
    supportsLocalAgentJwt: true,
    testEnvironment: async () => ({
      adapterType: "scripted_local",
      status: "pass",
      checks: [],
      testedAt: new Date().toISOString(),
    }),
  };
}
