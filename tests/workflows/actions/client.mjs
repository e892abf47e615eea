// What both stand-ins share: the client, and one fault of it to work around.
import http from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import { DefaultArtifactClient } from '@actions/artifact'

// The Azure client drops the "=" that ends the signature, and act's server then answers 401.
const request = http.request
http.request = (options, ...rest) => {
  if (typeof options?.path === 'string') {
    options.path = options.path.replace(/([?&]sig=)([^&=]+)(?=&|$)/, (_, key, signature) => {
      const plain = decodeURIComponent(signature)
      return key + encodeURIComponent(plain.padEnd(Math.ceil(plain.length / 4) * 4, '='))
    })
  }
  return request(options, ...rest)
}
syncBuiltinESMExports()

export const client = new DefaultArtifactClient()
export const input = name => (process.env[`INPUT_${name.toUpperCase()}`] ?? '').trim()
export const matches = (pattern, text) =>
  new RegExp(`^${pattern.replace(/[.+^${}()|[\]\\]/g, '\\$&').replaceAll('**', '\0').replaceAll('*', '[^/]*').replaceAll('\0', '.*')}$`).test(text)

export function main(work) {
  work().catch(error => {
    console.log(`::error::${String(error?.message ?? error).replaceAll('\n', '%0A')}`)
    process.exitCode = 1
  })
}
