/** The commands of budgets, orders, operators and webhooks, as operators type them. */
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { atGateway, documentOf } from "../support/commandLine.ts"
import { Gateway, layerTestGateway } from "../support/gateway.ts"
import { orderImages } from "../support/orders.ts"

const Id = Schema.Struct({ id: Schema.String })
const Budget = Schema.Struct({
  id: Schema.String,
  amount: Schema.String,
  period: Schema.String,
  thresholds: Schema.Array(Schema.Int)
})
const NewOperator = Schema.Struct({ id: Schema.String, token: Schema.String })
const Endpoint = Schema.Struct({ id: Schema.String, signing_secret: Schema.String })
const Orders = Schema.Struct({ data: Schema.Array(Id), next: Schema.NullOr(Schema.String) })

/** The command line of operators, with the text of commands that are expected to succeed. */
const asOperator = Effect.map(Gateway, ({ url }) => {
  const run = atGateway(url)
  const textOf = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
    const { code, stdout, stderr } = yield* run(...args)
    assert.strictEqual(code, 0, stderr)
    return stdout.trim()
  })
  return { run, textOf }
})

layer(layerTestGateway("embedded"), { excludeTestServices: true, timeout: "60 seconds" })(
  "operations by the command line",
  (it) => {
    it.effect("sets a budget, shows what is used of it, and changes and removes it", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const { run, textOf } = yield* asOperator
        const who = yield* gateway.customer("10")
        const org = who.organizationId
        const budget = yield* Effect.flatMap(
          run(
            ...["budget", "create", org, "1", "--period", "day", "--scope", "member"],
            ...["--subject", who.memberId, "--thresholds", "60,90", "--json"]
          ),
          documentOf(Budget)
        )
        assert.deepInclude(budget, { amount: "1", period: "day", thresholds: [60, 90] })
        yield* orderImages(who, { model: "paint-1" })
        const listed = yield* textOf("budget", "list", org, "--subject", who.memberId)
        assert.match(listed, new RegExp(`${budget.id} +member +${who.memberId} +day +1 +0.2 +0.8`))
        assert.include(yield* textOf("budget", "show", org, budget.id), "60 %, 90 %")
        assert.strictEqual(
          yield* textOf("budget", "change", org, budget.id, "--amount", "0.1"),
          `${budget.id}: 0.2 of 0.1 used, new orders are refused.`
        )
        for (const [args, code, message] of [
          [["change", org, budget.id], 1, "--amount, --thresholds"],
          [["create", org, "1", "--thresholds", "half"], 2, "50,80,100"],
          [["create", org, "1", "--scope", "key"], 1, "subject_id"],
          [["show", org, "bg_none"], 1, "(not_found"]
        ] as const) {
          const refused = yield* run("budget", ...args)
          assert.strictEqual(refused.code, code, refused.stderr)
          assert.include(refused.stderr, message)
        }
        assert.include(yield* textOf("budget", "remove", org, budget.id), "is removed")
        assert.include(yield* textOf("budget", "list", org), "There are none.")
      })
    )

    it.effect("lists orders by what they have in common, page by page", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const { run, textOf } = yield* asOperator
        const who = yield* gateway.customer("10")
        const own = ["order", "list", "--organization", who.organizationId] as const
        for (const project of ["lighthouse", "harbour"]) {
          yield* orderImages(who, { model: "paint-1", metadata: { project } })
        }
        const first = yield* Effect.flatMap(
          run(...own, "--limit", "1", "--json"),
          documentOf(Orders)
        )
        const page = yield* textOf(...own, "--limit", "1")
        assert.include(page, `There are more: --after ${first.next}`)
        const second = yield* textOf(...own, "--limit", "1", "--after", first.next ?? "")
        assert.notInclude(second, first.data[0]?.id ?? assert.fail("no order"))
        assert.match(second, /paint-1 +\S+ +succeeded +0\.2 +0\.2 /)
        const tagged = yield* textOf(...own, "--tag", "project=harbour", "--member", who.memberId)
        assert.strictEqual(tagged.split("\n").length, 2)
        assert.include(yield* textOf(...own, "--state", "failed"), "No orders")
        assert.include(yield* textOf(...own, "--to", "2020-01-31"), "No orders")
        yield* orderImages(who, { model: "paint-1", prompt: "x sim:moderate-input" })
        const failed = yield* Effect.flatMap(
          run(...own, "--state", "failed", "--json"),
          documentOf(Orders)
        )
        assert.match(
          yield* textOf("task", "show", failed.data[0]?.id ?? assert.fail("no failed order")),
          /^error +\S+ answered 4\d\d: .+ \(upstream_error\)$/m
        )
        const wrong = yield* run(...own, "--from", "yesterday")
        assert.deepStrictEqual([wrong.code, wrong.stdout], [1, ""])
        assert.include(wrong.stderr, "from")
      })
    )

    it.effect("creates operators, who may do what their role says, and revokes them", () =>
      Effect.gen(function* () {
        const { url } = yield* Gateway
        const { run, textOf } = yield* asOperator
        const created = yield* Effect.flatMap(
          run("operator", "create", "Ann", "viewer", "--json"),
          documentOf(NewOperator)
        )
        const asAnn = atGateway(url, { GATEWAY_ADMIN_TOKEN: created.token })
        assert.strictEqual((yield* asAnn("org", "list")).code, 0)
        const refused = yield* asAnn("org", "create", "Studio")
        assert.include(refused.stderr, "needs the role owner or operator")
        assert.include(
          yield* textOf("operator", "role", created.id, "operator"),
          "has the role operator"
        )
        assert.strictEqual((yield* asAnn("org", "create", "Studio")).code, 0)
        assert.match(yield* textOf("operator", "list"), new RegExp(`${created.id} +Ann +operator`))
        assert.include(yield* textOf("operator", "revoke", created.id), "is revoked")
        assert.strictEqual((yield* asAnn("org", "list")).code, 1)
        assert.strictEqual((yield* run("operator", "create", "Ann", "king")).code, 2)
      })
    )

    it.effect("creates a webhook endpoint, and lists and repeats its deliveries", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const { run, textOf } = yield* asOperator
        const who = yield* gateway.customer("10")
        const own = ["--organization", who.organizationId] as const
        const endpoint = yield* Effect.flatMap(
          run(
            ...["webhook", "create", "production", "https://example.com/hooks"],
            ...["--events", "image.completed,budget.threshold", ...own, "--json"]
          ),
          documentOf(Endpoint)
        )
        assert.match(endpoint.signing_secret, /^whsec_/)
        assert.include(
          yield* textOf("webhook", "list", ...own),
          "https://example.com/hooks  image.completed,budget.threshold  enabled"
        )
        assert.notInclude(yield* textOf("webhook", "list"), endpoint.id)
        assert.include(yield* textOf("webhook", "disable", endpoint.id), "is disabled")
        assert.include(yield* textOf("webhook", "enable", endpoint.id), "is enabled")
        const rotated = yield* textOf("webhook", "rotate-secret", endpoint.id, "--overlap")
        assert.match(rotated, /^whsec_/)
        assert.notStrictEqual(rotated, endpoint.signing_secret)
        assert.include(yield* textOf("webhook", "deliveries", endpoint.id), "There are none.")
        for (const [args, code, message] of [
          [["create", "n", "https://example.com", "--events", "image.done"], 2, "image.failed"],
          [["create", "n", "ftp://example.com", "--events", "channel.up"], 1, "(invalid_request"],
          [["redeliver", endpoint.id, "msg_none"], 1, "(not_found"],
          [["deliveries", "whe_none"], 1, "(not_found"]
        ] as const) {
          const refused = yield* run("webhook", ...args)
          assert.strictEqual(refused.code, code, refused.stderr)
          assert.include(refused.stderr, message)
        }
        assert.include(yield* textOf("webhook", "remove", endpoint.id), "is removed")
      })
    )
  }
)
