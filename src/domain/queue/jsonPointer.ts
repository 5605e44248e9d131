/**
 * JSON Pointers (RFC 6901) with two additions: `*` stands for each item of a list or each field of
 * an object, and `-` appends an item to a list.
 */
import { Predicate, Schema } from "effect"

const EACH = "*"
const APPEND = "-"

/** No token may be the name by which objects get another prototype. */
const syntax = /^(?:\/(?!__proto__(?:\/|$))(?:[^/~\p{Cc}\p{Cs}]|~[01])+){0,16}$/u

/** A place in an answer; the empty text is the whole answer. */
export const AnswerPointer = Schema.String.check(
  Schema.isPattern(syntax, { expected: "a JSON Pointer such as /data/*/url" })
)

const placeSyntax = /^(?:\/(?!(?:__proto__|\*)(?:\/|$))(?:[^/~\p{Cc}\p{Cs}]|~[01])+){1,16}$/u

/** A place in the body of a request, which is that of one field or of an item of a list. */
export const BodyPointer = Schema.String.check(
  Schema.isPattern(placeSyntax, {
    expected: "a place such as /input/prompt, or /images/- for the items of a list"
  })
)

/** The names in a pointer, one for each step. */
export const tokensOf = (pointer: string): ReadonlyArray<string> =>
  pointer
    .split("/")
    .slice(1)
    .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"))

/** The pointer to a field of the object at `parent`. */
export const fieldPointer = (parent: string, name: string): string =>
  `${parent}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`

/** Whether the pointer appends to a list, so that it can hold several values. */
export const isListPointer = (pointer: string): boolean => tokensOf(pointer).includes(APPEND)

/** The name of the field that a pointer leads to, past lists and objects of any field. */
export const fieldNameOf = (pointer: string): string | undefined =>
  tokensOf(pointer).findLast((token) => token !== EACH && !/^\d+$/.test(token))

const childrenOf = (value: unknown, token: string): ReadonlyArray<unknown> => {
  if (token === EACH) {
    return Predicate.isObjectOrArray(value) ? Object.values(value) : []
  }
  return Predicate.isObjectOrArray(value) && Object.hasOwn(value, token)
    ? [Reflect.get(value, token)]
    : []
}

/** The values at a pointer, in their order; empty if there is none. */
export const valuesAt = (body: unknown, pointer: string): ReadonlyArray<unknown> =>
  tokensOf(pointer).reduce<ReadonlyArray<unknown>>(
    (values, token) => values.flatMap((value) => childrenOf(value, token)),
    [body]
  )

/** A body that is being written. */
export interface MutableBody {
  [name: string]: unknown
}

const isMutableBody = (value: unknown): value is MutableBody => Predicate.isObject(value)

type Container = MutableBody | Array<unknown>

const setAt = (container: Container, token: string, value: unknown): void => {
  if (Array.isArray(container)) container.push(value)
  else container[token] = value
}

const existingAt = (container: Container, token: string): Container | null => {
  const child = Array.isArray(container) ? undefined : container[token]
  return Array.isArray(child) || isMutableBody(child) ? child : null
}

/** Writes a value at a pointer, with the objects and lists that lead to it. */
export const writeAt = (body: MutableBody, pointer: string, value: unknown): void => {
  const tokens = tokensOf(pointer)
  let container: Container = body
  for (const [index, token] of tokens.entries()) {
    const next = tokens[index + 1]
    if (next === undefined) {
      setAt(container, token, value)
      return
    }
    const child: Container = existingAt(container, token) ?? (next === APPEND ? [] : {})
    if (existingAt(container, token) === null) setAt(container, token, child)
    container = child
  }
}

/** Whether one of the places contains the other, so that both cannot be written. */
export const overlap = (one: string, other: string): boolean =>
  one === other || one.startsWith(`${other}/`) || other.startsWith(`${one}/`)
