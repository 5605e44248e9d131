/** The command line against a gateway, as operators and members type it. */
import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { allScopes } from "../../src/services/Access.ts"
import { ADMIN_TOKEN } from "../support/cluster.ts"
import { atGateway, documentOf } from "../support/commandLine.ts"
import { temporaryDataDir } from "../support/databases.ts"
import { Gateway, layerTestGateway } from "../support/gateway.ts"
import { orderImages } from "../support/orders.ts"

const Id = Schema.Struct({ id: Schema.String })
const Booked = Schema.Struct({ applied: Schema.Boolean, balance: Schema.String })
const Created = Schema.Struct({ id: Schema.String, key: Schema.String })
const Usage = Schema.Struct({ data: Schema.Array(Schema.Struct({ charge: Schema.String })) })

layer(layerTestGateway("postgres"), { excludeTestServices: true, timeout: "60 seconds" })(
  "the command line",
  (it) => {
    it.effect("opens accounts, and moves money once per reference", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const cli = atGateway(gateway.url)
        const org = (yield* cli("org", "create", "Studio")).stdout.trim()
        const deposit = (amount: string) =>
          cli("deposit", org, amount, "--reference", "invoice 17", "--json")
        const first = yield* Effect.flatMap(deposit("500.25"), documentOf(Booked))
        assert.deepStrictEqual(first, { applied: true, balance: "500.25" })
        const again = yield* Effect.flatMap(deposit("500.25"), documentOf(Booked))
        assert.deepStrictEqual(again, { applied: false, balance: "500.25" })
        const other = yield* deposit("1")
        assert.deepStrictEqual([other.code, other.stdout], [1, ""])
        assert.match(other.stderr, /^.*\(idempotency_mismatch.*\)\n$/)

        const taken = yield* cli(
          "adjust",
          org,
          "0.25",
          "--kind",
          "withdrawal",
          "--reason",
          "rounding",
          "--reference",
          "w1"
        )
        assert.include(taken.stdout, "The balance is 500.", taken.stderr)

        for (const [args, says] of [
          [["deposit", org, "5"], "--reference"],
          [["deposit", org, "five", "--reference", "r"], "five"],
          [["deposit", org, "0", "--reference", "r"], "greater than 0"],
          [["key", "create", "mem_1", "n", "--scopes", "foo"], `some of ${allScopes.join(",")}`],
          [["key", "create", "mem_1", "n", "--budget", "much"], "much"],
          [["nothing"], "nothing"]
        ] as const) {
          const refused = yield* cli(...args)
          assert.deepStrictEqual([refused.code, refused.stdout], [2, ""])
          assert.include(refused.stderr, says)
        }

        const member = yield* Effect.flatMap(
          cli("member", "create", org, "Ann", "--cap", "100", "--json"),
          documentOf(Id)
        )
        const capped = yield* cli("member", "cap", member.id, "0.3")
        assert.include(capped.stdout, "0.3 a month")
        const made = yield* Effect.flatMap(
          cli("key", "create", member.id, "laptop", "--scopes", "images,usage", "--json"),
          documentOf(Created)
        )
        const who = { organizationId: org, memberId: member.id, key: made.key }
        yield* orderImages(who, { model: "paint-1" })
        const own = atGateway(gateway.url, { GATEWAY_KEY: made.key })
        const [charge] = (yield* Effect.flatMap(
          own("usage", "export", "--json"),
          documentOf(Usage)
        )).data
        assert.strictEqual(charge?.charge, "0.2")
        const csv = (yield* cli("usage", "export", "--organization", org)).stdout.trim().split("\n")
        assert.strictEqual(csv.length, 2)
        assert.include(csv[1], "paint-1")

        const bounded = ["key", "create", member.id, "agent"]
        const agent = yield* cli(...bounded, "--budget", "0.1", "--budget-period", "total")
        assert.match(agent.stdout, /^mg_\S+\n$/, agent.stderr)
        assert.match(agent.stderr, /^Budget bg_\S+: 0\.1 in total\.$/m)
        const tooDear = yield* orderImages(
          { ...who, key: agent.stdout.trim() },
          { model: "paint-1" }
        )
        assert.deepNestedInclude(tooDear.body, { "error.code": "budget_exceeded" })
        const periodAlone = yield* cli(...bounded, "--budget-period", "day")
        assert.deepStrictEqual([periodAlone.code, periodAlone.stdout], [1, ""])
        assert.include(periodAlone.stderr, "--budget")

        assert.strictEqual((yield* cli("key", "revoke", made.id)).code, 0)
        const closed = yield* own("usage", "export")
        assert.strictEqual(closed.code, 1)
        assert.include(closed.stderr, "invalid_api_key")
        assert.include((yield* cli("verify")).stdout, "The books are sound.")
        assert.include((yield* cli("statement", "show", "--organization", org)).stdout, "499.8")
      })
    )

    it.effect("writes price lists, and says how an organisation pays, overdraws and marks", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const cli = atGateway(gateway.url)
        const org = (yield* cli("org", "create", "Studio")).stdout.trim()
        const dataDir = yield* temporaryDataDir()
        const file = join(dataDir, "prices.json")
        const prices = { "paint-1": { kind: "image", per_image: "0.15" } }
        yield* Effect.promise(() => writeFile(file, JSON.stringify(prices)))

        const created = yield* cli("price-list", "create", "Partners", "--factor", "0.85")
        const id = created.stdout.trim()
        assert.match(id, /^pl_/, created.stderr)
        const said = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
          const { code, stdout, stderr } = yield* cli(...args)
          assert.strictEqual(code, 0, stderr)
          return stdout.trim()
        })
        assert.include(yield* said("price-list", "list"), `${id}  Partners  0.85`)
        assert.strictEqual(
          yield* said("org", "price-list", org, id),
          `${org} is on the price list ${id}.`
        )
        const replaced = ["price-list", "replace", id, "Partners", "--prices", file]
        assert.strictEqual(
          yield* said(...replaced, "--holds-from", "2999-01-31", "--watermark", "on"),
          `${id} is at version 2.`
        )
        assert.match(
          yield* said("price-list", "list"),
          new RegExp(`${id}  Partners  - +1 +2999-01-31 +1`)
        )
        const shown = yield* said("price-list", "show", id)
        assert.include(shown, '"per_image": "0.15"')
        assert.include(shown, '"factor": "0.85"')
        assert.include(shown, '"watermark": true')

        for (const [args, code, says] of [
          [["create", "Both", "--factor", "1", "--prices", file], 1, "either --factor or --prices"],
          [["create", "Other", "--factor", "0"], 1, "factor: Expected an amount greater than 0"],
          [["create", "Other", "--factor", "1", "--holds-from", "2027-02-30"], 2, "calendar"],
          [["create", "Partners", "--factor", "1"], 1, "(invalid_request, name"],
          [["remove", id], 1, "(price_list_in_use"]
        ] as const) {
          const refused = yield* cli("price-list", ...args)
          assert.strictEqual(refused.code, code, refused.stderr)
          assert.include(refused.stderr, says)
        }
        assert.strictEqual(
          yield* said("org", "price-list", org, "none"),
          `${org} pays the catalog's prices.`
        )
        assert.strictEqual(yield* said("price-list", "remove", id), `${id} is removed.`)

        assert.strictEqual(
          yield* said("org", "credit", org, "100"),
          `${org} has a credit of 100 CNY.`
        )
        assert.strictEqual(
          yield* said("org", "credit", org, "50", "--holds", "yes"),
          `${org} has a credit of 50 CNY, which holds may use.`
        )
        assert.strictEqual(
          yield* said("org", "watermark", org, "on"),
          `Orders of ${org} are marked unless they say otherwise.`
        )
        assert.strictEqual(
          yield* said("org", "watermark", org, "off"),
          `Orders of ${org} are not marked unless they say otherwise.`
        )
        assert.strictEqual(
          yield* said("org", "watermark", org, "default"),
          `Orders of ${org} are marked by the default.`
        )
      })
    )

    it.effect("follows a task, to operators and to its member", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const { body } = yield* gateway.call("/v1/videos/generations", {
          key: who.key,
          json: { model: "film-1", prompt: "a lighthouse" }
        })
        const { id } = yield* Schema.decodeUnknownEffect(Id)(body)
        for (const env of [undefined, { GATEWAY_KEY: who.key }]) {
          const { code, stdout, stderr } = yield* atGateway(
            gateway.url,
            env
          )(...["task", "follow", id, "--json"])
          assert.strictEqual(code, 0, stderr)
          const lines = stdout.trim().split("\n")
          for (const line of lines) assert.propertyVal(JSON.parse(line), "id", id)
          assert.include(lines.at(-1), "succeeded")
        }
        const cli = atGateway(gateway.url)
        assert.include((yield* cli("task", "show", id)).stdout, "succeeded")
        const unknown = yield* cli("task", "show", "vt_none")
        assert.deepStrictEqual([unknown.code, unknown.stdout], [1, ""])
        assert.include(unknown.stderr, "task_not_found")
        assert.include((yield* cli("orphan", "list")).stdout, "There are none.")
      })
    )

    it.effect("takes the catalog out, compares it and puts it back", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const cli = atGateway(gateway.url)
        const file = join(yield* temporaryDataDir(), "catalog.json")
        const edit = (change: (text: string) => string) =>
          Effect.promise(async () => writeFile(file, change(await readFile(file, "utf8"))))
        const got = yield* Effect.flatMap(
          cli("catalog", "get", "-o", file, "--json"),
          documentOf(Schema.Struct({ version: Schema.Int }))
        )
        assert.strictEqual((yield* cli("catalog", "diff", file)).code, 0)

        yield* edit((text) => text.replace('"per_image": "0.2"', '"per_image": "0.3"'))
        const seen = yield* cli("catalog", "diff", file)
        assert.deepStrictEqual([seen.code, seen.stderr], [1, ""])
        assert.include(seen.stdout, '~ models[paint-1].prices.per_image: "0.2" -> "0.3"')

        const applied = yield* cli("catalog", "apply", file, "--if-version", String(got.version))
        assert.include(applied.stdout, `Version ${got.version + 1} is in force.`, applied.stderr)
        const late = yield* cli("catalog", "apply", file, "--if-version", String(got.version))
        assert.strictEqual(late.code, 1)
        assert.include(late.stderr, "precondition_failed")
        assert.include((yield* gateway.admin("/catalog")).text, '"per_image":"0.3"')

        // Removing a model is agreed to, and a key may come from the environment.
        yield* edit((text) => {
          const { models, channels, ...rest } = JSON.parse(text)
          return JSON.stringify({
            ...rest,
            channels: channels.map((one: { readonly id: string }) =>
              one.id === "ch-keyless" ? { ...one, api_key: { env: "VENDOR_KEY" } } : one
            ),
            models: models.filter(({ id }: { readonly id: string }) => id !== "rank-1")
          })
        })
        const unset = yield* cli("catalog", "diff", file)
        assert.deepStrictEqual([unset.code, unset.stdout], [2, ""])
        assert.include(unset.stderr, "api_key: VENDOR_KEY is not set")
        const keyed = atGateway(gateway.url, {
          GATEWAY_ADMIN_TOKEN: ADMIN_TOKEN,
          VENDOR_KEY: "vendor-key-a"
        })
        const asked = yield* keyed("catalog", "apply", file)
        assert.strictEqual(asked.code, 1)
        assert.include(asked.stderr, "models[rank-1]: repeat it with --yes")
        assert.include((yield* gateway.admin("/catalog")).text, "rank-1")
        const agreed = yield* keyed("catalog", "apply", file, "--yes")
        assert.include(agreed.stdout, "! channels[ch-keyless].api_key is written", agreed.stderr)
        assert.notInclude(agreed.stdout, "vendor-key-a")
        assert.notInclude((yield* gateway.admin("/catalog")).text, "rank-1")
        const listed = yield* cli("channel", "list")
        assert.match(listed.stdout, /^ch-down +\S.* serving /m)
        assert.notInclude(listed.stdout, "closed")
        const tested = yield* cli("channel", "test", "ch-keyless", "--json")
        assert.strictEqual(tested.code, 0, tested.stdout)
        assert.strictEqual((yield* cli("channel", "test", "ch-down")).code, 1)

        yield* edit((text) => text.replace('"modality":"chat"', '"modality":"smell"'))
        const faulty = yield* keyed("catalog", "diff", file)
        assert.strictEqual(faulty.code, 2)
        assert.match(faulty.stderr, /\n {2}models\[\d+\]\.modality: /)
      })
    )
  }
)
