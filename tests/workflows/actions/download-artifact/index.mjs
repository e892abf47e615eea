import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { client, input, main, matches } from '../client.mjs'

async function here() {
  const { artifacts } = await client.listArtifacts({ latest: true })
  return artifacts.map(({ name, id }) => ({ name, fetch: into => client.downloadArtifact(id, { path: into }) }))
}

// GitHub answers for another run over REST, with a token; here its folder of artifacts does.
function elsewhere(runId) {
  if (!input('github-token')) throw new Error('another run needs a github-token')
  const folder = path.join(process.env.STANDIN_ARTIFACTS, runId)
  if (!fs.existsSync(folder)) throw new Error(`there is no run ${runId}`)
  return fs.readdirSync(folder).map(name => ({
    name,
    fetch: into => execFileSync('python3', ['-m', 'zipfile', '-e', path.join(folder, name, `${name}.zip`), into]),
  }))
}

main(async () => {
  const runId = input('run-id')
  const known = runId && runId !== process.env.GITHUB_RUN_ID ? elsewhere(runId) : await here()
  const name = input('name')
  const wanted = known.filter(artifact => (name ? artifact.name === name : matches(input('pattern'), artifact.name)))
  if (name && wanted.length === 0) throw new Error(`Unable to download artifact(s): Artifact not found for name: ${name}`)
  for (const artifact of wanted) {
    // As the real action: one artifact alone is unpacked without a directory of its own.
    const into = wanted.length === 1 ? input('path') : path.join(input('path'), artifact.name)
    fs.mkdirSync(into, { recursive: true })
    await artifact.fetch(into)
  }
  console.log(`downloaded ${wanted.length} artifacts`)
})
