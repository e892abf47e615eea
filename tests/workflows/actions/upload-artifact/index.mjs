import fs from 'node:fs'
import path from 'node:path'
import { client, input, main, matches } from '../client.mjs'

// The root is what all searched paths have in common, so that a name below it never depends on
// which of the files are there.
function rootOf(patterns) {
  const fixed = patterns.map(pattern => {
    const parts = pattern.split('/')
    const star = parts.findIndex(part => part.includes('*'))
    return star < 0 && !(fs.existsSync(pattern) && fs.statSync(pattern).isDirectory()) ? parts.slice(0, -1) : parts.slice(0, star < 0 ? undefined : star)
  })
  return fixed.reduce((common, parts) => common.slice(0, common.findIndex((part, at) => part !== parts[at]) >>> 0)).join('/') || '.'
}

main(async () => {
  const patterns = input('path').split('\n').map(line => line.trim()).filter(Boolean)
  if (patterns.some(pattern => pattern.split('/').some(part => part.startsWith('.') && part !== '.'))) throw new Error('hidden files are not uploaded')
  const root = rootOf(patterns)
  const all = fs.existsSync(root) ? fs.readdirSync(root, { recursive: true, withFileTypes: true }) : []
  const files = all
    .filter(entry => entry.isFile())
    .map(entry => path.posix.join(entry.parentPath ?? entry.path, entry.name))
    .filter(name => patterns.some(pattern => matches(pattern, name) || name.startsWith(`${pattern}/`)))
  if (files.length === 0) {
    if (input('if-no-files-found') === 'error') throw new Error(`No files were found with the provided path: ${patterns.join(' ')}`)
    return
  }
  await client.uploadArtifact(input('name'), files, root)
  console.log(`uploaded ${input('name')}: ${files.length} files`)
})
