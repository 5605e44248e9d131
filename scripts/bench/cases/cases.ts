/**
 * The cases that are measured by their request rate: which subjects take part, and the requests.
 */
import { Effect, Schema } from "effect"
import { ADMIN_TOKEN, good } from "../../../test/support/cluster.ts"
import { call } from "../../../test/support/http.ts"
import type { LoadRequest } from "../measure/load.ts"
import { headersOf } from "../subjects/ours.ts"
import type { Subject, SubjectKind } from "../subjects/subject.ts"
import type { Case } from "./rounds.ts"

const CONNECTIONS = 64
const CROWD = 1000
/** The number of connections to the port that two gateways share. */
const SHARED = 256
/** The number of tasks that the reading cases read in turn. */
const TASKS = 64
const A_DAY = 24 * 3600 * 1000

const prompt = "a lighthouse at dusk, seen from the water, in the manner of an old postcard"

const post = (subject: Subject, path: string, body: object, headers = subject.headers) => ({
  method: "POST" as const,
  path,
  headers,
  body: JSON.stringify(body)
})

/** The smallest paid request; the cold start uses this request too. */
export const imageOrder = (subject: Subject, model = "paint-1", headers = subject.headers) =>
  post(
    subject,
    "/v1/images/generations",
    { model: subject.model(model), prompt, size: "1024x1024", n: 1 },
    headers
  )

export const chatOrder = (subject: Subject, stream: boolean) =>
  post(subject, "/v1/chat/completions", {
    model: subject.model("talk-1"),
    messages: [
      { role: "system", content: "You describe pictures for people who cannot see them." },
      { role: "user", content: prompt }
    ],
    max_tokens: 200,
    ...(stream ? { stream: true } : {})
  })

export const videoOrder = (subject: Subject) =>
  post(subject, "/v1/videos/generations", {
    model: subject.model("film-1"),
    prompt,
    duration: 5,
    resolution: "720p"
  })

const Created = Schema.Struct({ id: Schema.String })

/** Orders a video as a client does, and returns its id. */
export const createVideo = (subject: Subject): Effect.Effect<string> => {
  const { path, headers, body } = videoOrder(subject)
  return call(`${subject.url}${path}`, { headers, body }).pipe(
    Effect.flatMap((answer) => good(Created, answer)),
    Effect.map(({ id }) => id)
  )
}

const reading = Effect.fnUntraced(function* (subject: Subject) {
  const ids = yield* Effect.forEach(Array.from({ length: TASKS }), () => createVideo(subject))
  return ids.map(
    (id): LoadRequest => ({
      method: "GET",
      path: `/v1/videos/${id}`,
      headers: subject.headers,
      body: null
    })
  )
})

const one = (request: (subject: Subject) => LoadRequest): Case["loads"] => [
  { suffix: "", requests: (subject) => Effect.succeed([request(subject)]) }
]

const all: ReadonlyArray<SubjectKind> = ["ours", "portkey", "fastify", "bare"]
/** The subjects of cases with small image responses. */
const imageKinds: ReadonlyArray<SubjectKind> = [...all, "durable"]
/** The subjects that forward the task API; the others do not support this API. */
const forwarders: ReadonlyArray<SubjectKind> = ["ours", "fastify", "bare"]
const creators: ReadonlyArray<SubjectKind> = [...forwarders, "durable"]
/**
 * A large response arrives in some hundred chunks, so each request warms up as much code as 50
 * small ones.
 */
const ofManyParts = { warmsAs: 50 } as const
const streamed = { warmsAs: 5 } as const
const crowd = { connections: CONNECTIONS, until: "last byte" } as const
const alone = { connections: 1 } as const

const settled = (subject: Subject): Effect.Effect<void> => subject.books?.settled ?? Effect.void

/** One image order for each organisation. */
const imageOrdersOfAll = (subject: Subject): ReadonlyArray<LoadRequest> =>
  (subject.books?.accounts ?? []).map((account) =>
    imageOrder(subject, "paint-1", headersOf(account))
  )

const ofOneAndOfAll: Case["loads"] = [
  {
    suffix: " 1 organisation",
    requests: (subject) => Effect.succeed([imageOrder(subject)])
  },
  {
    suffix: " 64 organisations",
    requests: (subject) => Effect.succeed(imageOrdersOfAll(subject))
  }
]

const Keys = Schema.Struct({ data: Schema.Tuple([Schema.Struct({ id: Schema.String })]) })

/**
 * An image order of the second account, whose key has a monthly budget and whose member has a daily
 * budget, both large enough.
 */
const budgetedImageOrder = Effect.fnUntraced(function* (subject: Subject) {
  const account = subject.books?.accounts[1]
  const admin = (path: string, json?: object) =>
    call(`${subject.url}/admin/v1${path}`, {
      key: ADMIN_TOKEN,
      ...(json === undefined ? {} : { json })
    })
  const keys = yield* Effect.flatMap(admin(`/keys?member_id=${account?.memberId}`), (answer) =>
    good(Keys, answer)
  )
  const budgets = [
    { scope: "member", subject_id: account?.memberId, period: "day" },
    { scope: "key", subject_id: keys.data[0].id, period: "month" }
  ]
  for (const budget of budgets) {
    const amount = "40000000"
    yield* Effect.flatMap(
      admin(`/organizations/${account?.organizationId}/budgets`, { ...budget, amount }),
      (answer) => good(Created, answer)
    )
  }
  return [imageOrder(subject, "paint-1", headersOf(account))]
})

/** The name of the case for which separate gateways are started. */
export const SHARED_PORT = "shared-port"

export const imageCase: Case = {
  name: "image",
  ...crowd,
  kinds: imageKinds,
  charged: "with the answer",
  loads: one((subject) => imageOrder(subject))
}

export const cases: ReadonlyArray<Case> = [
  imageCase,
  {
    name: "image-alone",
    ...alone,
    kinds: [...imageKinds, "direct"],
    until: "last byte",
    charged: "with the answer",
    loads: one((subject) => imageOrder(subject))
  },
  {
    name: "image-4mb",
    ...crowd,
    ...ofManyParts,
    kinds: all,
    charged: "with the answer",
    loads: one((subject) => imageOrder(subject, "paint-large"))
  },
  {
    name: "chat",
    ...crowd,
    kinds: all,
    charged: "with the answer",
    loads: one((subject) => chatOrder(subject, false))
  },
  {
    name: "chat-stream",
    ...crowd,
    ...streamed,
    kinds: all,
    charged: "with the answer",
    loads: one((subject) => chatOrder(subject, true))
  },
  {
    name: "chat-stream-alone",
    ...alone,
    ...streamed,
    kinds: [...all, "direct"],
    until: "first byte",
    charged: "with the answer",
    loads: one((subject) => chatOrder(subject, true))
  },
  {
    name: "video-create",
    ...crowd,
    kinds: creators,
    charged: "when the task ends",
    loads: [
      {
        suffix: "",
        requests: (subject, vendor) => Effect.as(vendor.takes(0), [videoOrder(subject)])
      }
    ]
  },
  {
    name: "video-running",
    ...crowd,
    kinds: forwarders,
    charged: "never",
    loads: [
      {
        suffix: "",
        requests: (subject, vendor) => Effect.andThen(vendor.takes(A_DAY), reading(subject))
      }
    ],
    after: (subject, vendor) => Effect.andThen(vendor.finish(0), settled(subject))
  },
  {
    name: "video-finished",
    ...crowd,
    kinds: forwarders,
    charged: "never",
    loads: [
      {
        suffix: "",
        requests: (subject, vendor) =>
          vendor.takes(0).pipe(
            Effect.andThen(reading(subject)),
            Effect.tap(() => settled(subject))
          )
      }
    ]
  },
  {
    name: "spread",
    ...crowd,
    kinds: ["ours"],
    charged: "with the answer",
    loads: ofOneAndOfAll
  },
  {
    name: "hot",
    connections: CROWD,
    until: "last byte",
    kinds: ["ours"],
    charged: "with the answer",
    loads: ofOneAndOfAll
  },
  {
    name: "budgets",
    ...crowd,
    kinds: ["ours"],
    charged: "with the answer",
    loads: [
      { suffix: " no budget", requests: (subject) => Effect.succeed([imageOrder(subject)]) },
      { suffix: " 2 budgets", requests: budgetedImageOrder }
    ]
  },
  {
    name: SHARED_PORT,
    connections: SHARED,
    until: "last byte",
    kinds: ["shared"],
    charged: "with the answer",
    loads: one((subject) => imageOrder(subject))
  }
]
