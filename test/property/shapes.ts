/** How a plan's product and errors become the text of an answer. */
import { HUGE, type Json, type Mark, wordsOf } from "./answerParts.ts"
import { audioEventsOf, soundOf } from "./audioForms.ts"
import { chunks, productOf, refusalOf } from "./forms.ts"
import { type AnswerPlan, isAskedForEvents, isOfCloud, OWN_RESPONSE, type Plan } from "./plans.ts"
import { responseEvents } from "./responseForms.ts"

/** More than any answer about a task has of its own. */
const ECHO = "iVBORw0K".repeat(160 * 1024)

const REFUSED = "The order was refused"

const written = (value: unknown): string =>
  JSON.stringify(value).replaceAll(JSON.stringify(HUGE), "1e309")

/** What stands between the outer braces. */
const fieldsOf = (value: Json): string => written(value).slice(1, -1)

const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth)

const escaped = (text: string, mark: string): string =>
  text.replaceAll(
    mark,
    [...mark].map((letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`).join("")
  )

/** The product's values under names that no protocol has. */
const renamed = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(renamed)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [`my_${name}`, renamed(inner)])
  )
}

/** The product in the words of an error. */
const toldIn = (product: Json): string => `It was made: ${written(product)}`

/** One JSON answer, or what comes instead of it. */
const shaped = (plan: AnswerPlan, order: Plan, product: Json, mark: Mark): string => {
  const whole = written(product)
  const refusal = refusalOf(order, REFUSED)
  const fields = fieldsOf(product)
  switch (plan.shape) {
    case "error":
      return written(refusal)
    case "beside":
      return `{${fieldsOf(refusal)},${fields}}`
    case "within":
      return written({ error: { code: "failed", message: REFUSED, data: product } })
    case "message":
      return written(refusalOf(order, toldIn(product)))
    case "renamed":
      return written(renamed(product))
    case "ndjson":
      return `${whole}\n${written({ more: true })}\n`
    case "concatenated":
      return `${whole}${whole}`
    case "html":
      return `<html><body><a href='#'>Done</a>${whole}</body></html>`
    case "empty":
      return ""
    case "truncated":
      return whole.slice(0, -2)
    case "trailing":
      return `${whole}\n-- the end`
    case "duplicated":
      return `{${fields},${fields}}`
    case "overwritten":
      return `{${fields},"data":null,"choices":null,"output":null,"id":null,"task_id":null}`
    case "escaped":
      return escaped(whole, mark.text)
    case "deep 20":
    case "deep 3000":
    case "deep 100000":
      return `{${fields},"extra":${nested(Number(plan.shape.slice(5)))}}`
    case "many":
      return `{${fields},"extra":[${"0,".repeat(1_000_000)}0]}`
    case "echoed":
      return `{${fields},"request":{"content":[{"image":"data:image/png;base64,${ECHO}"}]}}`
    case "bom":
      return `\ufeff${whole}`
    case "quoted":
      return JSON.stringify(whole)
    case "listed":
      return `[${whole}]`
    case "wrapped":
      return written({ code: 0, result: product, msg: "ok" })
    case "scalar":
      return "null"
    default:
      return whole
  }
}

interface Event {
  readonly name?: string
  /** The cloud's lines before the data: a number, a name and a status. */
  readonly head?: ReadonlyArray<string>
  readonly data: string
  /** Written as a comment, not as data. */
  readonly isComment?: boolean
}

/** Words that stand in an event without the form of the protocol. */
const loose: Partial<Record<AnswerPlan["words"], (word: string) => Event>> = {
  bare: (word) => ({ data: word }),
  string: (word) => ({ data: JSON.stringify(word) }),
  array: (word) => ({ data: written([{ choices: [{ delta: { content: word } }] }]) }),
  comment: (word) => ({ data: word, isComment: true }),
  named: (word) => ({ name: word, data: "{}" })
}

/** Of a text, event by event; what is strange about it stands in the second one. */
const textEvents = (plan: AnswerPlan, order: Plan, mark: Mark): ReadonlyArray<Event> => {
  if (plan.shape === "error" || plan.shape === "message") {
    return [{ data: shaped(plan, order, { text: wordsOf(plan, mark).join("") }, mark) }]
  }
  const looseForm = loose[plan.words]
  const words = wordsOf(plan, mark)
  const pieces = order.model === OWN_RESPONSE ? responseEvents(plan, mark) : chunks(plan, mark)
  return pieces.map((chunk, at) => {
    const word = words[at]
    if (looseForm !== undefined && word !== undefined) return looseForm(word)
    return {
      data: at === Math.min(1, words.length) ? shaped(plan, order, chunk, mark) : written(chunk)
    }
  })
}

/** Of images: half done ones first, as some vendors stream them. */
const imageEvents = (plan: AnswerPlan, order: Plan, mark: Mark): ReadonlyArray<Event> => [
  {
    name: "image_generation.partial_image",
    data: written({ type: "image_generation.partial_image", b64_json: `iVBORw0KGgo${mark.text}i0` })
  },
  {
    name: "image_generation.completed",
    data: shaped(plan, order, productOf(plan, mark, order), mark)
  }
]

const cloudHead = (name: "result" | "error", number: number): ReadonlyArray<string> => [
  `id:${number}`,
  `event:${name}`,
  `:HTTP_STATUS/${name === "result" ? 200 : 400}`
]

/** Of a sound or a transcript, event by event; what is strange about it stands in the second one. */
const audioEvents = (plan: AnswerPlan, order: Plan, mark: Mark): ReadonlyArray<Event> => {
  const events = audioEventsOf(plan, mark, order)
  const isCloud = isOfCloud(order.model)
  if (plan.shape === "error" || plan.shape === "message") {
    const head = isCloud ? { head: cloudHead("error", 1) } : {}
    return [{ ...head, data: shaped(plan, order, events[0] ?? {}, mark) }]
  }
  return events.map((event, at) => ({
    ...(isCloud ? { head: cloudHead("result", at + 1) } : {}),
    data: at === Math.min(1, events.length - 1) ? shaped(plan, order, event, mark) : written(event)
  }))
}

/** An error that ends a stream. */
const errorEnd = ({ model }: Plan, message: string): Event =>
  isOfCloud(model)
    ? {
        head: cloudHead("error", 9),
        data: written({ code: "InternalError", message, request_id: "r" })
      }
    : { data: written({ error: { message, code: "server_error" } }) }

const endsOf = (plan: AnswerPlan, order: Plan, mark: Mark): ReadonlyArray<Event> => {
  switch (plan.ending) {
    case "done":
    case "no blank line":
      return isOfCloud(order.model) ? [] : [{ data: "[DONE]" }]
    case "error":
      return [errorEnd(order, REFUSED)]
    case "error with words":
      return [errorEnd(order, `It broke after ${wordsOf(plan, mark)[0] ?? "nothing"}`)]
    default:
      return []
  }
}

const linesOf = (
  { name, head = [], data, isComment = false }: Event,
  plan: AnswerPlan
): Array<string> => {
  const isLong = plan.events === "multi-line" && data.startsWith("{")
  const parts = isLong ? JSON.stringify(JSON.parse(data), null, 1).split("\n") : data.split("\n")
  const before = isComment ? ": " : plan.events === "no space" ? "data:" : "data: "
  return [
    ...(plan.events === "comments" ? [": still here"] : []),
    ...(plan.events === "fields" ? ["id: 7", "retry: 10", "strange: field"] : []),
    ...(name === undefined
      ? plan.events === "names"
        ? ["event: chunk"]
        : []
      : [`event: ${name}`]),
    ...head,
    ...parts.map((part) => `${before}${part}`),
    ""
  ]
}

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

type EventsOf = (plan: AnswerPlan, order: Plan, mark: Mark) => ReadonlyArray<Event>

const oneEvent: EventsOf = (plan, order, mark) => [
  { data: shaped(plan, order, productOf(plan, mark, order), mark) }
]

const eventsOf: Readonly<Partial<Record<Plan["kind"], EventsOf>>> = {
  chat: textEvents,
  image: imageEvents,
  speech: audioEvents,
  transcription: audioEvents
}

const eventText = (plan: AnswerPlan, order: Plan, mark: Mark): string => {
  const made = (eventsOf[order.kind] ?? oneEvent)(plan, order, mark)
  const events = [...made, ...endsOf(plan, order, mark)]
  const lines = events.flatMap((event) =>
    linesOf(event, isJson(event.data) ? plan : { ...plan, events: "plain" })
  )
  const ends = ["\n", "\r\n", "\r"] as const
  const text = lines
    .map((line, at) => `${line}${plan.lineEnd === "mixed" ? ends[at % 3] : plan.lineEnd}`)
    .join("")
  const cut = plan.ending === "no blank line" ? text.trimEnd() : text
  return plan.events === "bom" ? `\ufeff${cut}` : cut
}

export interface Text {
  readonly text: string
  readonly isStream: boolean
  /** Whether the text stands for the bytes of a sound. */
  readonly isSound?: boolean
}

/** A sound has no fields: only these shapes put something else in its place. */
const insteadOfSound: ReadonlySet<AnswerPlan["shape"]> = new Set([
  "error",
  "beside",
  "within",
  "message",
  "html",
  "empty",
  "quoted",
  "wrapped",
  "listed",
  "scalar",
  "echoed"
])

/** Takes the place of the whole answer also where a stream was asked for. */
const ofTheWhole: ReadonlySet<AnswerPlan["shape"]> = new Set(["empty", "html", "scalar", "quoted"])

/** The answer to an order. */
export const orderText = (plan: AnswerPlan, order: Plan, mark: Mark): Text => {
  const isStream =
    (plan.shape === "swapped") !== isAskedForEvents(order) && !ofTheWhole.has(plan.shape)
  const isSound = order.kind === "speech" && !isStream && !isOfCloud(order.model)
  if (isSound && !insteadOfSound.has(plan.shape)) {
    return { text: soundOf(mark, 0), isStream, isSound }
  }
  return isStream
    ? { text: eventText(plan, order, mark), isStream }
    : { text: shaped(plan, order, productOf(plan, mark, order), mark), isStream }
}

/** The answer to a question about a task; `task` is the protocol's right form of it. */
export const pollText = (plan: AnswerPlan, order: Plan, mark: Mark, task: Json): Text => {
  const event = { data: shaped(plan, order, task, mark) }
  return plan.shape === "swapped"
    ? { text: linesOf(event, plan).join("\n"), isStream: true }
    : { text: event.data, isStream: false }
}
