// GitHub's own workflow parser and expression engine, as a filter: a JSON request a line on stdin,
// a JSON answer a line on stdout.
//   {parse: TEXT, name: FILE}               -> {errors: [..], jobs: N}
//   {evaluate: EXPRESSION, contexts: {..}}  -> {value} or {error}
import readline from 'node:readline'
import { data, Evaluator, Lexer, Parser } from '@actions/expressions'
import { convertWorkflowTemplate, NoOperationTraceWriter, parseWorkflow } from '@actions/workflow-parser'

function toData(value) {
  if (value === null || value === undefined) return new data.Null()
  if (typeof value === 'string') return new data.StringData(value)
  if (typeof value === 'number') return new data.NumberData(value)
  if (typeof value === 'boolean') return new data.BooleanData(value)
  if (Array.isArray(value)) return new data.Array(...value.map(toData))
  return new data.Dictionary(...Object.entries(value).map(([key, item]) => ({ key, value: toData(item) })))
}

// always(), success() and the like are no functions of the language; the runner adds them.
function functionsFor(status) {
  const answers = {
    always: true,
    cancelled: status === 'cancelled',
    failure: status === 'failure',
    success: status === 'success',
  }
  return Object.entries(answers).map(([name, answer]) => ({
    name,
    minArgs: 0,
    maxArgs: 255,
    call: () => new data.BooleanData(answer),
  }))
}

function evaluate({ evaluate: expression, contexts, status = 'success' }) {
  const functions = functionsFor(status)
  const { tokens } = new Lexer(expression).lex()
  const tree = new Parser(tokens, Object.keys(contexts), functions).parse()
  const calls = new Map(functions.map(item => [item.name, item]))
  const value = new Evaluator(tree, toData(contexts), calls).evaluate()
  return { value: JSON.parse(JSON.stringify(value, data.replacer)) }
}

async function parse({ parse: content, name }) {
  const { context, value } = parseWorkflow({ name, content }, new NoOperationTraceWriter())
  const template = value ? await convertWorkflowTemplate(context, value) : undefined
  const errors = [...context.errors.getErrors(), ...(template?.errors ?? [])]
  return { errors: errors.map(error => error.message ?? error.Message ?? String(error)), jobs: template?.jobs?.length ?? 0 }
}

async function main() {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const request = JSON.parse(line)
    let answer
    try {
      answer = 'parse' in request ? await parse(request) : evaluate(request)
    } catch (error) {
      answer = { error: String(error.message ?? error) }
    }
    console.log(JSON.stringify(answer))
  }
}

void main()
