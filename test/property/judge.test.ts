/** The judge of the property, by cases of which it is known what it must say. */
import { gzipSync } from "node:zlib"
import { assert, describe, it } from "@effect/vitest"
import { type Case, faultsOf, productIn, type Received, type Round, type Rule } from "./judge.ts"
import { type AnswerPlan, type Plan, plain } from "./plans.ts"

const mark = { text: "QzMarkMark", digits: "7123456789012" }
const prices = { image: 170n, outputToken: 8n }

const received = (status: number | null, body: string | Buffer, headers = ""): Received => ({
  status,
  headers,
  body: Buffer.from(body),
  isWhole: status !== null
})

const upstreamError = (body: string, headers = "x-should-retry: false") =>
  received(
    502,
    `{"error":{"message":"x","type":"upstream_error","param":null,"code":"upstream_error","upstream":{"body":${JSON.stringify(body)}}}}`,
    headers
  )

const planOf = (kind: Plan["kind"], answer: Partial<AnswerPlan> = {}, more = {}): Plan => ({
  model: kind,
  kind,
  streamed: false,
  n: 1,
  repeated: false,
  answer: { ...plain, ...answer },
  polls: [plain, plain],
  ...more
})

const roundOf = (answer: Received, more: Partial<Round> = {}): Round => ({
  answers: [answer],
  charge: 0n,
  orphans: 0,
  orders: 1,
  held: 0n,
  ...more
})

const faults = (plan: Plan, ...rounds: readonly [Round, ...ReadonlyArray<Round>]) =>
  faultsOf({ plan, mark, rounds } satisfies Case, prices)

const picture = '{"data":[{"url":"https://media.test/QzMarkMarki0.png"}]}'
const words = "QzMarkMarkw0 QzMarkMarkw1 "
const paid = { charge: 170n }
const orphan = { orphans: 1 }

describe("the judge of product and charge", () => {
  it("finds a product however its bytes are written", () => {
    const found = (body: string | Buffer, headers = "") =>
      [...productIn(received(200, body, headers), mark)].toSorted()
    assert.deepStrictEqual(found(picture), ["QzMarkMarki0"])
    assert.deepStrictEqual(found(JSON.stringify(picture)), ["QzMarkMarki0"])
    assert.deepStrictEqual(found(words), ["QzMarkMarkw0", "QzMarkMarkw1"])
    const escaped = picture.replace("Qz", "\\u0051\\u007a")
    assert.deepStrictEqual(found(escaped), ["QzMarkMarki0"])
    assert.deepStrictEqual(found(JSON.stringify({ body: escaped })), ["QzMarkMarki0"])
    assert.deepStrictEqual(found(Buffer.from(picture).toString("base64")), ["QzMarkMarki0"])
    assert.deepStrictEqual(found(gzipSync(picture)), ["QzMarkMarki0"])
    const behind = Buffer.concat([gzipSync(picture), Buffer.from('\n\ndata: {"error":1}\n\n')])
    assert.deepStrictEqual(found(behind), ["QzMarkMarki0"])
    assert.deepStrictEqual(found('{"embedding":[0.7123456789012,0.5]}'), ["712345678901"])
    assert.deepStrictEqual(found("", "x-result: https://media.test/QzMarkMarki0.png"), [
      "QzMarkMarki0"
    ])
    assert.deepStrictEqual(found('{"id":"job-QzMarkMark"}'), [])
  })

  it("has nothing to say of orders that went as they should", () => {
    assert.isEmpty(faults(planOf("image"), roundOf(received(200, picture), paid)))
    assert.isEmpty(faults(planOf("chat"), roundOf(received(200, words), { charge: 900n })))
    const unread = received(
      502,
      '{"error":{"code":"upstream_error","message":"It is charged 0.17 CNY by the formula"}}',
      "x-should-retry: false"
    )
    const html = planOf("image", { shape: "html" })
    assert.isEmpty(faults(html, roundOf(unread, { ...paid, ...orphan })))
    assert.isEmpty(
      faults(planOf("image", { cut: "hang at once" }), roundOf(upstreamError(""), orphan))
    )
    const late = received(504, '{"error":{"code":"upstream_error"}}', "x-should-retry: false")
    assert.isEmpty(faults(planOf("chat"), roundOf(late, orphan)))
    const refused = roundOf(received(400, '{"error":{"code":"upstream_error"}}'))
    assert.isEmpty(faults(planOf("image", { status: 400, shape: "error" }), refused))
    assert.isEmpty(faults(planOf("chat", { usage: "zero" }), roundOf(received(200, words))))
    const unsent = roundOf(received(400, '{"error":{"code":"invalid_request"}}'), { orders: 0 })
    assert.isEmpty(faults(planOf("image"), unsent))
  })

  const red: ReadonlyArray<readonly [Rule, Plan, Round]> = [
    ["free product", planOf("image", { type: "none" }), roundOf(upstreamError(picture), orphan)],
    ["free product", planOf("chat"), roundOf(received(200, words), orphan)],
    [
      "free product in an error's words",
      planOf("chat", { shape: "message" }),
      roundOf(
        received(
          502,
          JSON.stringify({ error: { code: "upstream_error", message: words.repeat(20) } })
        ),
        orphan
      )
    ],
    [
      "free product in a refusal",
      planOf("image", { status: 400 }),
      roundOf(upstreamError(picture, ""))
    ],
    ["charged without a product", planOf("image"), roundOf(upstreamError("", ""), paid)],
    ["charged without a product", planOf("image"), roundOf(received(200, "{}"), paid)],
    [
      "unread answer not charged",
      planOf("chat", { cut: "hang" }),
      roundOf(received(504, ""), orphan)
    ],
    [
      "unread answer not charged",
      planOf("image", { shape: "truncated" }),
      roundOf(upstreamError(""), orphan)
    ],
    [
      "unread answer not charged",
      planOf("chat", { cut: "end" }),
      roundOf(upstreamError(""), orphan)
    ],
    ["doubt without an orphan", planOf("image"), roundOf(upstreamError("", ""))],
    ["doubt without an orphan", planOf("image", { status: 500 }), roundOf(upstreamError("", ""))],
    ["doubt without an orphan", planOf("chat", { status: 408 }), roundOf(upstreamError("", ""))],
    [
      "doubt without an orphan",
      planOf("image", { status: 400, cut: "reset at once" }),
      roundOf(upstreamError("", ""))
    ],
    [
      "doubt told to the client without an orphan",
      planOf("image", { status: 529 }),
      roundOf(upstreamError(""))
    ],
    [
      "internal error",
      planOf("image"),
      roundOf(received(500, '{"error":{"code":"internal_error"}}'), orphan)
    ],
    [
      "internal error",
      planOf("chat", {}, { streamed: true }),
      roundOf(received(200, 'data: {}\n\ndata: {"error":{"code":"internal_error"}}\n\n'), orphan)
    ],
    ["no answer", planOf("image"), roundOf(received(null, ""), orphan)],
    ["answer cut", planOf("image"), roundOf({ ...received(200, picture), isWhole: false }, paid)],
    ["hold left open", planOf("image"), roundOf(upstreamError(""), { ...orphan, held: 1n })],
    [
      "more images than ordered",
      planOf("image"),
      roundOf(received(200, `${picture}${picture.replace("i0", "i1")}`), paid)
    ],
    ["images charged wrongly", planOf("image"), roundOf(received(200, picture), { charge: 340n })],
    [
      "text charged too little",
      planOf("chat", { usage: "none" }),
      roundOf(
        received(
          200,
          words.repeat(20).replace(/w\d/g, () => "w7")
        ),
        { charge: 8n }
      )
    ],
    [
      "task id taken that names no task",
      planOf("video", { id: "dots" }),
      roundOf(received(200, '{"id":"vt_1"}'), orphan)
    ],
    [
      "film at an address that is not http",
      planOf("video"),
      roundOf(received(200, '{"video_url":"javascript:QzMarkMarki0"}'), paid)
    ]
  ]
  it.each(red)("%s", (rule, plan, round) => {
    assert.include(faults(plan, round), rule)
  })

  it("compares a repeat with the first answer", () => {
    const replayed = "idempotency-replayed: true"
    const first = roundOf(received(200, picture), paid)
    const plan = planOf("image", {}, { repeated: true })
    const again = (answer: Received, more: Partial<Round> = {}) =>
      faults(plan, first, roundOf(answer, { orders: 0, ...more }))
    assert.isEmpty(again(received(200, picture, replayed)))
    const notKept = '{"error":{"code":"idempotency_conflict"}}'
    assert.isEmpty(again(received(409, notKept, replayed)))
    assert.deepStrictEqual(again(received(200, "{}", replayed)), ["repeat differs"])
    assert.include(again(received(200, picture, replayed), paid), "repeat is charged")
    assert.include(again(received(200, picture), { ...paid, orders: 1 }), "repeat is charged")
  })

  it("wants no record of a refusal that is compressed whole, and one where it was cut", () => {
    const refusal = roundOf(received(400, upstreamError("", "").body))
    const coded = (coding: AnswerPlan["coding"]) =>
      faults(planOf("chat", { status: 400, shape: "error", coding }), refusal)
    assert.isEmpty([...coded("gzip"), ...coded("deflate"), ...coded("br")])
    assert.deepStrictEqual(coded("gzip cut"), ["doubt without an orphan"])
    assert.deepStrictEqual(coded("gzip unsaid"), ["doubt without an orphan"])
  })

  it("takes a short text under another name for the words of a refusal", () => {
    const refused = (kind: Plan["kind"], text: string) =>
      faults(
        planOf(kind, { status: 529, shape: "renamed" }),
        roundOf(upstreamError(JSON.stringify({ my_text: text })), orphan)
      )
    const rule = "free product in a refusal"
    assert.notInclude(refused("transcription", words), rule)
    assert.include(refused("transcription", words.repeat(40)), rule)
    assert.include(refused("chat", words), rule)
  })

  it("wants nothing of a task that its vendor says has failed", () => {
    const failed = planOf("video", {}, { polls: [{ ...plain, shape: "failed" }, plain] })
    const accepted = roundOf(received(200, '{"id":"vt_1","task_status":"processing"}'))
    assert.isEmpty(faults(failed, accepted))
    assert.deepStrictEqual(faults(planOf("video"), accepted), ["doubt without an orphan"])
  })
})
