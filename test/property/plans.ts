/**
 * What a vendor does with one order, as plain choices: each has a list that begins with what a good
 * vendor does. A plan is drawn by a seed, printed as what differs from a good vendor, and shrunk by
 * taking single choices back.
 */
import { ways } from "../support/protocolCatalog.ts"
import type { Dice } from "../support/randomOrders.ts"

type Choices<A> = readonly [A, ...ReadonlyArray<A>]

const statuses = [
  200, 201, 202, 204, 206, 301, 302, 307, 400, 401, 402, 403, 404, 408, 409, 413, 415, 418, 422,
  429, 500, 501, 502, 503, 504, 520, 524, 529, 599
] as const

/** Each list begins with the choice of a good vendor. */
const choices = {
  status: [200, 200, 200, ...statuses] as Choices<number>,
  /** The content type: "right" is that of what was asked for. */
  type: [
    "right",
    "none",
    "json",
    "json charset",
    "problem",
    "events",
    "text",
    "html",
    "octets",
    "png",
    "nonsense",
    "two",
    "list"
  ],
  /** How the body is encoded, and whether that is said. */
  coding: [
    "none",
    "gzip",
    "deflate",
    "br",
    "gzip unsaid",
    "gzip said only",
    "gzip cut",
    "gzip twice",
    "bomb"
  ],
  /** How product and errors are put together. */
  shape: [
    "right",
    "swapped",
    "swapped",
    "task",
    "processing",
    "failed",
    "failed beside",
    "error",
    "beside",
    "within",
    "message",
    "renamed",
    "partial",
    "ndjson",
    "concatenated",
    "html",
    "empty",
    "truncated",
    "trailing",
    "duplicated",
    "overwritten",
    "escaped",
    "deep 20",
    "deep 3000",
    "deep 100000",
    "many",
    "bad utf-8",
    "bom",
    "quoted",
    "listed",
    "wrapped",
    "scalar",
    "echoed"
  ],
  /** Images, or pieces of text: as many as were asked for, or another number. */
  items: ["asked", "none", "one", "one more", "many"],
  /** What stands where an address, base64 or an id should. */
  medium: ["url", "b64", "null", "data", "ftp", "script", "relative", "number", "object", "long"],
  /** The id of a video task. */
  id: ["plain", "dot", "dots", "slash", "control", "long", "number", "empty", "null", "unicode"],
  /** In which field of a text answer the words stand. */
  words: [
    "content",
    "parts",
    "reasoning",
    "tool",
    "text",
    "message",
    "refusal",
    "object",
    "outside",
    "response",
    "bare",
    "string",
    "array",
    "comment",
    "named"
  ],
  usage: ["good", "none", "zero", "no output", "negative", "float", "string", "huge", "middle"],
  lineEnd: ["\n", "\r\n", "\r", "mixed"],
  /** Of an event stream: what is written around its data. */
  events: ["plain", "bom", "comments", "names", "multi-line", "no space", "fields"],
  ending: [
    "done",
    "no done",
    "no blank line",
    "no finish",
    "finish alone",
    "error",
    "error with words"
  ],
  framing: ["length", "chunked", "close", "too long", "too short", "both", "garbage"],
  pieces: ["whole", "random", "bytes"],
  /** After which share of the body, or before anything, the answer ends, and how. */
  cut: ["none", "end", "reset", "hang", "end at once", "reset at once", "hang at once"],
  cutAt: [0.5, 0.1, 0.9, 0.99] as Choices<number>,
  /** Whether the product also stands in a header. */
  header: ["none", "product"]
} as const satisfies Record<string, Choices<string | number>>

export type AnswerPlan = {
  readonly [K in keyof typeof choices]: (typeof choices)[K][number]
}

const names = Object.keys(choices) as ReadonlyArray<keyof typeof choices>

/** What a good vendor does. */
export const plain: AnswerPlan = {
  status: 200,
  type: "right",
  coding: "none",
  shape: "right",
  items: "asked",
  medium: "url",
  id: "plain",
  words: "content",
  usage: "good",
  lineEnd: "\n",
  events: "plain",
  ending: "done",
  framing: "length",
  pieces: "whole",
  cut: "none",
  cutAt: 0.5,
  header: "none"
}

type Kind = "image" | "video" | "chat" | "embedding" | "rerank" | "speech" | "transcription"

const kinds: ReadonlyArray<Kind> = [
  "image",
  "video",
  "chat",
  "embedding",
  "rerank",
  "speech",
  "transcription"
]

/** The kind of every order of a run for one kind alone. */
export const KIND: Kind | null = kinds.find((kind) => kind === process.env.KIND) ?? null

export interface Plan {
  /** A model of the protocol catalog, `talk` or `vector`. */
  readonly model: string
  readonly kind: Kind
  /** The client asks for a stream. */
  readonly streamed: boolean
  /** The format that an order of a sound names. */
  readonly format?: "wav" | "pcm"
  /** Images ordered. */
  readonly n: number
  /** Sent with an Idempotency-Key, and a second time with the same. */
  readonly repeated: boolean
  readonly answer: AnswerPlan
  /** To the questions about a task; the last one is said again and again. */
  readonly polls: readonly [AnswerPlan, AnswerPlan]
}

/** Only what is seen at the kind of order is worth a difference. */
const relevant: Readonly<Record<Kind, ReadonlySet<keyof typeof choices>>> = {
  image: new Set(names.filter((name) => !["id", "words", "usage", "ending"].includes(name))),
  video: new Set(names.filter((name) => !["items", "words", "ending", "lineEnd"].includes(name))),
  chat: new Set(names.filter((name) => !["medium", "id"].includes(name))),
  embedding: new Set(names.filter((name) => !["id", "words", "ending"].includes(name))),
  rerank: new Set(names.filter((name) => !["id", "medium", "words", "ending"].includes(name))),
  speech: new Set(names.filter((name) => !["id", "medium", "words"].includes(name))),
  transcription: new Set(names.filter((name) => !["id", "medium", "words"].includes(name)))
}

/** Of events alone: without a stream nothing is seen of them. */
const ofEvents: ReadonlySet<string> = new Set(["lineEnd", "events", "ending"])

/** What says most beside shape and status. */
const telling = {
  chat: "words",
  image: "medium",
  embedding: "medium",
  video: "id",
  rerank: "items",
  speech: "type",
  transcription: "usage"
} as const

/** Choices that cost seconds or megabytes are taken seldom. */
const slow: ReadonlySet<unknown> = new Set([
  "hang",
  "hang at once",
  "task",
  "many",
  "bomb",
  "echoed",
  "deep 100000"
])

const pickOf = (dice: Dice, name: keyof typeof choices): string | number => {
  const list: Choices<string | number> = choices[name]
  const picked = dice.pick(list)
  return slow.has(picked) && !dice.chance(25) ? dice.pick(list) : picked
}

const drawAnswer = (dice: Dice, kind: Kind, isInEvents: boolean): AnswerPlan => {
  const open = names.filter(
    (name) => relevant[kind].has(name) && (isInEvents || !ofEvents.has(name) || dice.chance(20))
  )
  const changes = dice.pick([0, 1, 1, 1, 2, 2, 3, 4])
  let answer = plain
  for (let at = 0; at < changes; at += 1) {
    // What the answer says decides more than how it is written.
    const name = dice.chance(35)
      ? dice.pick(["shape", "shape", "status", telling[kind]] as const)
      : (open[dice.roll(open.length)] ?? "shape")
    answer = { ...answer, [name]: pickOf(dice, name) }
  }
  return answer
}

/** Its films open with the gateway's key alone, so clients get addresses of the gateway. */
export const VEO_MODEL = "reel-veo"
/** The model whose orders list shots; it has no resolutions. */
export const SHOTS_MODEL = "queue-shots"

/** Vendors beside those of the protocol catalog, with a model of each. */
const otherVideos = [
  {
    model: "queue-fal",
    protocol: "fal",
    upstream: "fal-ai/bytedance/seedance/v1/pro/text-to-video"
  },
  {
    model: SHOTS_MODEL,
    protocol: "fal",
    upstream: "fal-ai/kling-video/v3/pro/text-to-video"
  },
  { model: "queue-replicate", protocol: "replicate", upstream: "bytedance/seedance-1-pro" },
  { model: "reel-minimax", protocol: "minimax", upstream: "MiniMax-H3" },
  { model: VEO_MODEL, protocol: "veo", upstream: "veo-3.1-generate-preview" }
] as const

const otherImages = [
  { model: "paint-fal", protocol: "fal", upstream: "fal-ai/flux/dev" },
  { model: "paint-replicate", protocol: "replicate", upstream: "black-forest-labs/flux-schnell" },
  { model: "paint-gemini", protocol: "gemini", upstream: "gemini-3-pro-image-preview" }
] as const

export const otherModels = [
  ...otherVideos.map((one) => ({ ...one, modality: "video" as const })),
  ...otherImages.map((one) => ({ ...one, modality: "image" as const }))
]

/** ElevenLabs sends bytes alone, which the gateway writes into events by itself. */
export const ELEVEN_MODEL = "voice-eleven"

/** The cloud sends a sound in events alone, also where the client gets its bytes. */
export const CLOUD_VOICE = "voice-cloud"
export const CLOUD_LISTENER = "listen-cloud"

/** Whether the model is one of speech over the cloud's own interface. */
export const isOfCloud = (model: string): boolean =>
  model === CLOUD_VOICE || model === CLOUD_LISTENER

/** Whether the gateway asks the vendor for events. */
export const isAskedForEvents = ({ model, streamed }: Pick<Plan, "model" | "streamed">): boolean =>
  model === CLOUD_VOICE || (streamed && model !== ELEVEN_MODEL)

/** Ordered as a response, of a vendor of chats. */
const RESPONSE = "response"
/** Ordered as a response, of a vendor that has the Responses API. */
export const OWN_RESPONSE = "response-own"
export const responseModels = [RESPONSE, OWN_RESPONSE] as const

/** Whether the order has the form of the Responses API. */
export const isResponse = (model: string): boolean => model.startsWith(RESPONSE)

/** Ordered as a message, in the form of Anthropic's API. */
export const MESSAGE = "message"

const ownModels: Readonly<Partial<Record<Kind, ReadonlyArray<string>>>> = {
  chat: ["talk", RESPONSE, OWN_RESPONSE, MESSAGE],
  embedding: ["vector"],
  rerank: ["rank"],
  speech: ["voice", ELEVEN_MODEL, CLOUD_VOICE],
  transcription: ["listen", CLOUD_LISTENER]
}

const videos = [...ways.filter(({ modality }) => modality === "video"), ...otherVideos].map(
  ({ model }) => model
)

const images = [...ways.filter(({ modality }) => modality === "image"), ...otherImages].map(
  ({ model }) => model
)

const modelOf = (dice: Dice, kind: Kind): string => {
  const of = ownModels[kind] ?? (kind === "video" ? videos : images)
  return of[dice.roll(of.length)] ?? ""
}

/** How many of a hundred orders ask for events. */
const streamedShares: Readonly<Partial<Record<Kind, number>>> = {
  chat: 60,
  image: 25,
  speech: 30,
  transcription: 40
}

/** The plan of a seed. */
export const drawPlan = (dice: Dice): Plan => {
  const kind =
    KIND ??
    dice.pick<Kind>([
      "chat",
      "chat",
      "chat",
      "image",
      "image",
      "image",
      "video",
      "embedding",
      "rerank",
      "speech",
      "speech",
      "transcription"
    ])
  const model = modelOf(dice, kind)
  const streamed = dice.chance(streamedShares[kind] ?? 0)
  const good = kind === "video" && dice.chance(65)
  return {
    model,
    kind,
    streamed,
    ...(model === CLOUD_VOICE ? { format: dice.pick(["wav", "pcm"]) } : {}),
    n: kind === "image" ? dice.pick([1, 1, 2, 3]) : 1,
    repeated: dice.chance(20),
    answer: good ? plain : drawAnswer(dice, kind, isAskedForEvents({ model, streamed })),
    polls: [drawAnswer(dice, kind, false), dice.chance(70) ? plain : drawAnswer(dice, kind, false)]
  }
}

const without = (answer: AnswerPlan): ReadonlyArray<AnswerPlan> =>
  names
    .filter((name) => answer[name] !== plain[name])
    .map((name) => ({ ...answer, [name]: plain[name] }))

/** Plans with one difference less. */
export const smaller = (plan: Plan): ReadonlyArray<Plan> => {
  const [first, last] = plan.polls
  return [
    ...(plan.repeated ? [{ ...plan, repeated: false }] : []),
    ...(plan.n > 1 ? [{ ...plan, n: 1 }] : []),
    ...without(first).map((answer) => ({ ...plan, polls: [answer, last] as const })),
    ...without(last).map((answer) => ({ ...plan, polls: [first, answer] as const })),
    ...without(plan.answer).map((answer) => ({ ...plan, answer }))
  ]
}

const differences = (answer: AnswerPlan): ReadonlyArray<string> =>
  names
    .filter((name) => answer[name] !== plain[name])
    .map((name) => `${name}: ${JSON.stringify(answer[name])}`)

const isPolled = ({ kind, answer }: Plan): boolean =>
  kind === "video" || (kind === "image" && answer.shape === "task")

/** What the order is, and each difference of its vendor from a good one. */
export const traitsOf = (plan: Plan): ReadonlySet<string> =>
  new Set([
    `${plan.kind}${plan.streamed ? " streamed" : ""}`,
    ...(plan.n > 1 ? ["n"] : []),
    ...(plan.repeated ? ["repeated"] : []),
    ...differences(plan.answer),
    ...(isPolled(plan)
      ? plan.polls.flatMap((poll, at) => differences(poll).map((one) => `poll ${at} ${one}`))
      : [])
  ])

const told = (answer: AnswerPlan): string => `{${differences(answer).join(", ")}}`

/** One line: the order, and how its vendor differs from a good one. */
export const describe = (plan: Plan): string => {
  const { model, kind, streamed, format, n, repeated, answer, polls } = plan
  const features = [streamed ? "streamed" : "", format ?? "", n > 1 ? `n=${n}` : ""]
  return [
    [kind, model, ...features].filter((feature) => feature !== "").join(" "),
    ...(repeated ? ["sent twice under one key"] : []),
    `answered ${told(answer)}`,
    ...(isPolled(plan) ? [`polled ${told(polls[0])} then ${told(polls[1])}`] : [])
  ].join("; ")
}
