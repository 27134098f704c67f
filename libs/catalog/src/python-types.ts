import type { JsonSchema } from './json-schema.js';
import { type Model, oncePerModel } from './model.js';

/** The stubs of the Python client's modules `models` and `_model_calls`, with the types of these models. */
export function pythonStubs(models: readonly Model[]): { models: string; calls: string } {
  const typed = models.map((model) => ({ id: model.id, ...pythonTypes(model) }));
  const names = new Set<string>();
  for (const { id, input } of typed) {
    if (names.has(input)) throw new Error(`two models have the same name in Python, one of them ${id}`);
    names.add(input);
  }
  return {
    models: `${modelsHead}${typed.map(({ text }) => text).join('')}`,
    calls: `${callsHead}${routers.map((router) => classOf(router, typed)).join('')}`,
  };
}

interface PythonTypes {
  /** The declarations. */
  text: string;
  /** The name of the type of the input. */
  input: string;
  output: string;
  /** Whether its input has a field that asks for a stream. */
  hasStream: boolean;
}

const modelsHead = `"""The input and output types of each model. The build writes them from the catalog."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal
from typing_extensions import NotRequired, TypeAlias, TypedDict

from ._types import File
`;

// mypy compares each pair of overloads with each other, unless it ignores the errors of a file. That would take minutes.
//
// Nothing is a WrongModelOrInput, because no `copy` of a dict is an int. But mypy looks for an overload to blame without
// type arguments, and finds that one, so that it reports a wrong call in one line. Otherwise it would print the overloads
// of all models. Pyright blames the overload of the model.
const callsHead = `# mypy: ignore-errors
"""The methods whose types depend on the model. The build writes them from the catalog."""

from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from typing import Any, Literal, Protocol, TypeVar, overload

import httpx

from . import models
from ._async import AsyncTransport
from ._flows import Extra, Flows, Input, OnProgress, OnStatus
from ._sync import Transport
from ._types import AnyModel, Event, Quote, Result, Run

Copy = TypeVar("Copy", covariant=True)

class WrongModelOrInput(Protocol[Copy]):
    """The package has no such model, or the input does not fit it. For other models, write AnyModel(…) around the id."""

    def copy(self) -> Copy: ...
`;

interface PythonRouter {
  name: string;
  client: string;
  transport: string;
  isAsync: boolean;
}

const routers: readonly PythonRouter[] = [
  { name: 'ModelCalls', client: 'httpx.Client', transport: 'Transport', isAsync: false },
  { name: 'AsyncModelCalls', client: 'httpx.AsyncClient', transport: 'AsyncTransport', isAsync: true },
];

const text = (name: string) => `${name}: str | None = ...`;
const extra = 'extra: Extra = ...';
const labels = `${text('idempotency_key')}, tags: Mapping[str, str] | None = ..., ${text('user')}`;
const timeout = 'timeout: float | None = ...';

/** The methods that have an overload for each model, with their options and the type that they return. */
function methodsOf({ isAsync }: PythonRouter) {
  const iterator = isAsync ? 'AsyncIterator' : 'Iterator';
  const callback = (of: string, alias: string) => (isAsync ? alias : `Callable[[${of}], None] | None`);
  const callbacks = [
    `on_status: ${callback('Run[Any]', 'OnStatus')} = ...`,
    `on_progress: ${callback('float', 'OnProgress')} = ...`,
  ];
  const waits = isAsync ? 'async def' : 'def';
  const either = ' | str';
  return [
    {
      start: `${waits} run`,
      either,
      options: [extra, labels, timeout],
      returns: (output: string) => `Result[${output}]`,
    },
    {
      start: `${waits} submit`,
      either,
      options: [extra, labels, text('webhook_url'), timeout],
      returns: (output: string) => `Run[${output}]`,
    },
    {
      start: 'def subscribe',
      either,
      options: [extra, ...callbacks, labels, text('webhook_url'), timeout],
      returns: (output: string) => (isAsync ? `Coroutine[Any, Any, Result[${output}]]` : `Result[${output}]`),
      also: `def subscribe(self, model: Mapping[str, object], *, ${timeout}) -> ${iterator}[Run[Any]]: ...`,
    },
    {
      start: 'def stream',
      either: '',
      options: [extra, labels, timeout],
      returns: () => `${iterator}[Event]`,
      onlyStreams: true,
    },
    { start: `${waits} cost`, either, options: [extra, timeout], returns: () => 'Quote' },
  ];
}

function classOf(router: PythonRouter, typed: readonly ({ id: string } & PythonTypes)[]): string {
  const lines = [
    ``,
    `class ${router.name}:`,
    `    _flows: Flows`,
    `    _transport: ${router.transport}`,
    `    def __init__(self, base_url: str, key: str | None, token: str | None, timeout: float, client: ${router.client} | None) -> None: ...`,
  ];
  for (const { start, either, options, returns, also, onlyStreams } of methodsOf(router)) {
    const add = (declaration: string) => lines.push('    @overload', `    ${declaration}`);
    const typedAs = (model: string, input: string, output: string) =>
      add(
        `${start}(self, model: ${model}, input: ${input}, *, ${options.join(', ')}) -> ${returns(output)}: ...`,
      );
    if (also !== undefined) add(also);
    typedAs('str', 'WrongModelOrInput[int]', 'Any');
    for (const { id, input, output } of typed.filter(({ hasStream }) => hasStream || !onlyStreams))
      typedAs(`Literal[${JSON.stringify(id)}]`, `models.${input}${either}`, `models.${output}`);
    typedAs('AnyModel', either === '' ? 'Mapping[str, Any]' : 'Input', 'Any');
  }
  return `${lines.join('\n')}\n`;
}

/** The types of a model. Cached, because the types of all models take longer than one request may take. */
const pythonTypes = oncePerModel((model): PythonTypes => {
  const { id, title, description, isAuthored } = model;
  const name = id
    .split(/[^A-Za-z0-9]+/)
    .map((word) => capitalized(word))
    .join('');
  const declared = new Declarations(/^[A-Z]/.test(name) ? name : `Model${name}`);
  const input = isAuthored ? declared.typeOf(model.input, 'Input', true) : 'Mapping[str, Any]';
  const outputType =
    model.output === undefined
      ? 'Any'
      : /\bjson$/.test(model.output.mediaType)
        ? declared.typeOf(model.output.schema, 'Output', false)
        : 'bytes';
  const comment = `\n# ${oneLine([id, title, description].filter(Boolean).join(': '))}\n`;
  return {
    input: declared.named('Input', input),
    output: declared.named('Output', outputType),
    hasStream: model.input.properties?.['stream'] !== undefined,
    get text() {
      return `${comment}${declared.text}`;
    },
  };
});

/** Collects the declarations of one model. */
class Declarations {
  text = '';
  private readonly names = new Set<string>();

  constructor(private readonly model: string) {}

  /** Makes the type known as the model's `Input` or `Output`. */
  named(suffix: string, type: string): string {
    const name = `${this.model}${suffix}`;
    if (type !== name) this.text += `${name}: TypeAlias = ${type}\n`;
    return name;
  }

  /** The type for a schema of the catalog. These schemas have a single `type` each and no references. */
  typeOf(schema: JsonSchema | boolean | undefined, name: string, isInput: boolean): string {
    if (schema === undefined || schema === true) return 'Any';
    if (schema === false) return 'never';
    const { not, anyOf, oneOf, allOf, ...rest } = schema;
    if (not !== undefined && Object.keys(not).length === 0) return 'never';
    if (not?.not !== undefined) return this.typeOf(not.not, name, isInput);
    if (schema.enum) return literals(schema.enum);
    if (schema.const !== undefined) return literals([schema.const]);
    const documented = schema['x-service-known-values'];
    if (documented && schema.type === 'string') return `${literals(documented)} | str`;
    if (allOf !== undefined) {
      const { allOf: _, ...base } = schema;
      return this.typeOf(allOf.reduce<JsonSchema>(both, base), name, isInput);
    }
    // Choices that only require members differ in nothing that a type can say.
    const choices = [...(anyOf ?? []), ...(oneOf ?? [])].filter(saysType);
    if (choices.length === 0) return this.plainType(rest, name, isInput);
    const types = choices.map((choice, index) =>
      this.typeOf(both(rest, choice), choices.length > 1 ? `${name}${index + 1}` : name, isInput),
    );
    const known = [...new Set(types)].filter((type) => type !== 'never');
    return known.includes('Any') || known.length === 0 ? 'Any' : known.join(' | ');
  }

  private plainType(schema: JsonSchema, name: string, isInput: boolean): string {
    switch (schema.type) {
      case 'object':
        return this.objectType(schema, name, isInput);
      case 'array':
        return `${isInput ? 'Sequence' : 'list'}[${this.typeOf(schema.items, `${name}Item`, isInput)}]`;
      case 'integer':
        return 'int';
      case 'number':
        return 'float';
      case 'string':
        return isInput ? 'str | File' : 'str';
      case 'boolean':
        return 'bool';
      case 'null':
        return 'None';
      case undefined:
        return schema.properties ? this.objectType(schema, name, isInput) : 'Any';
    }
  }

  private objectType(schema: JsonSchema, name: string, isInput: boolean): string {
    const { properties = {}, required = [], additionalProperties } = schema;
    const members = Object.entries(properties)
      .map(([member, of]) => ({
        member,
        type: this.typeOf(of, `${name}${camelCase(member)}`, isInput),
        comment: oneLine(of.description),
        isRequired: required.includes(member),
      }))
      .filter(({ type }) => type !== 'never');
    if (members.length === 0) {
      const of =
        typeof additionalProperties === 'object'
          ? this.typeOf(additionalProperties, `${name}Member`, isInput)
          : 'Any';
      return `${isInput ? 'Mapping' : 'dict'}[str, ${of}]`;
    }
    const own = this.unused(`${this.model}${name}`);
    const typed = members.map((each) => ({
      ...each,
      type: each.isRequired ? each.type : `NotRequired[${each.type}]`,
    }));
    if (typed.every(({ member }) => isMemberName(member))) {
      const lines = typed.map(({ member, type, comment }) => {
        const doc = comment === '' ? '' : `    ${JSON.stringify(comment)}\n`;
        return `    ${member}: ${type}\n${doc}`;
      });
      this.text += `class ${own}(TypedDict):\n${lines.join('')}`;
    } else {
      const pairs = typed.map(({ member, type }) => `${JSON.stringify(member)}: ${type}`);
      this.text += `${own} = TypedDict(${JSON.stringify(own)}, {${pairs.join(', ')}})\n`;
    }
    return own;
  }

  private unused(name: string): string {
    let free = name;
    for (let number = 2; this.names.has(free); number++) free = `${name}_${number}`;
    this.names.add(free);
    return free;
  }
}

const saysType = ({ type, properties, enum: values, anyOf, oneOf, allOf, ...rest }: JsonSchema) =>
  [type, properties, values, anyOf, oneOf, allOf].some((part) => part !== undefined) || 'const' in rest;

/** A schema that demands both, as far as types go. */
function both(one: JsonSchema, other: JsonSchema): JsonSchema {
  const properties = { ...one.properties, ...other.properties };
  const required = [...(one.required ?? []), ...(other.required ?? [])];
  return {
    ...one,
    ...other,
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(required.length > 0 && { required }),
  };
}

/** A `Literal` has no floating-point numbers, arrays or objects. */
function literals(values: readonly unknown[]): string {
  const exact = values.filter((value) => typeof value !== 'number' && typeof value !== 'object');
  const texts = [
    ...exact.map((value) =>
      typeof value === 'boolean' ? (value ? 'True' : 'False') : JSON.stringify(value),
    ),
    ...values.filter((value) => Number.isInteger(value)).map(String),
  ];
  const types = [
    ...(texts.length > 0 ? [`Literal[${[...new Set(texts)].join(', ')}]`] : []),
    ...(values.some((value) => typeof value === 'number' && !Number.isInteger(value)) ? ['float'] : []),
    ...(values.includes(null) ? ['None'] : []),
    ...(values.some((value) => typeof value === 'object' && value !== null) ? ['Any'] : []),
  ];
  return types.join(' | ');
}

const keywords = new Set(
  'False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield'.split(
    ' ',
  ),
);

/** Whether a class can have this member. Python changes the names of members that begin with two underscores. */
const isMemberName = (name: string) =>
  /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !name.startsWith('__') && !keywords.has(name);

const capitalized = (word: string) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`;

const camelCase = (name: string) =>
  name
    .split(/[^A-Za-z0-9]+/)
    .map((word) => capitalized(word))
    .join('');

const oneLine = (value = '') => value.replaceAll(/\s+/g, ' ').trim();
