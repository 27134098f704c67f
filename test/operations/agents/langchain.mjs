// Talks to a model of LangChain, which a module exports, and prints its answers, one line for each way to get them. The arguments
// are the path of the module and the name of the model. Started by langchain.spec.ts.
const [, , models = '', name = ''] = process.argv;
const { [name]: model } = await import(models);

const writer = {
  type: 'function',
  function: {
    name: 'write_file',
    description: 'Writes a file.',
    parameters: {
      type: 'object',
      properties: { file_path: { type: 'string' }, content: { type: 'string' } },
      required: ['file_path', 'content'],
    },
  },
};

/** The ways to get a message of a model. */
const ways = {
  invoke: (model, messages) => model.invoke(messages),
  stream: async (model, messages) => {
    let whole;
    for await (const chunk of await model.stream(messages)) whole = whole?.concat(chunk) ?? chunk;
    return whole;
  },
};

/** A greeting and its tokens, a call of a tool, the answer to the tool's result, and the refusal of a long context. */
async function answersOf(call) {
  const greeting = await call(model, [{ role: 'user', content: 'Say hello.' }]);
  const question = { role: 'user', content: 'Write the file /tmp/note.txt' };
  const withTool = model.bindTools([writer]);
  const asked = await call(withTool, [question]);
  const [{ id, ...tool }] = asked.tool_calls;
  const result = { role: 'tool', tool_call_id: id, name: tool.name, content: 'done' };
  const answer = await call(withTool, [question, asked, result]);
  return {
    greeting: greeting.text,
    tokens: greeting.usage_metadata,
    tool: { name: tool.name, args: tool.args },
    answer: answer.text,
    refused: await call(model, 'Far too long').catch((error) => String(error)),
  };
}

for (const [way, call] of Object.entries(ways))
  process.stdout.write(`${JSON.stringify({ way, ...(await answersOf(call)) })}\n`);
