/** Bad lists and other forms of good ones: each fault is told with its line, and nothing is kept. */
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { bodyAs, layerTestGateway, quickSettings } from "../support/gateway.ts"
import { kept, reconciled, send } from "../support/vendorLists.ts"

const Refused = Schema.Struct({
  error: Schema.Struct({
    code: Schema.String,
    message: Schema.String,
    param: Schema.NullOr(Schema.String),
    faults: Schema.optionalKey(
      Schema.Array(
        Schema.Struct({
          line: Schema.optionalKey(Schema.Int),
          path: Schema.String,
          message: Schema.String
        })
      )
    )
  })
})

const MAX_BYTES = 64 * 1024 * 1024

const utf16 = (text: string, isLittle: boolean): Uint8Array<ArrayBuffer> => {
  const bytes = Buffer.from(`\uFEFF${text}`, "utf16le")
  return Uint8Array.from(isLittle ? bytes : bytes.swap16())
}

type Query = Readonly<Record<string, string>>
type Body = string | Uint8Array<ArrayBuffer>

/** Each with the one line of the id `a` and the amount 1234.5. */
const good: ReadonlyArray<readonly [name: string, body: Body, query: Query]> = [
  ["plain", "id,cost\na,1234.5", {}],
  ["with a mark and other line ends", "\uFEFFid,cost\r\na,1234.50\r\n\r\n", {}],
  ["with carriage returns alone", "id,cost\ra,1234.5\r", {}],
  ["with semicolons", "id;cost;x\na;1234,5;1,2", { decimal: "comma" }],
  ["with tabs", "id\tcost\na\t1234.5\n", {}],
  [
    "with a delimiter that is given",
    "id;cost,x\na;1234.5",
    { delimiter: "semicolon", amount: "cost,x" }
  ],
  ["with groups", 'id,cost\na,"1,234.5"', { thousands: "comma" }],
  ["with other groups", "id;cost\na;1.234,5", { decimal: "comma", thousands: "point" }],
  ["with zeros behind the ninth decimal", "id,cost\na,1234.500000000000", {}],
  ["with spaces around", " id , cost \n a\t, 1234.5 ", {}],
  ["with quotes", '"id","note","cost"\n"a","two\nlines, and ""words""","1234.5"', {}],
  ["with its currency", "id,cost,cur\na,1234.5,CNY", { currency: "cur" }],
  ["in UTF-16, little end first", utf16("id,cost\na,1234.5", true), {}],
  ["in UTF-16, big end first", utf16("id,cost\na,1234.5", false), {}],
  [
    "in GB18030",
    Uint8Array.from([0xb1, 0xe0, 0xba, 0xc5, ...Buffer.from(",cost\na,1234.5")]),
    { encoding: "gb18030", id: "编号" }
  ],
  [
    "in Windows-1252",
    Uint8Array.from([...Buffer.from("id,co"), 0xfb, ...Buffer.from("t\na,1234.5")]),
    { encoding: "windows-1252", amount: "coût" }
  ],
  [
    "of a format",
    "InstanceNo,Count,PayableAmount,Currency\na,7,1234.5,CNY",
    { format: "vp_a", id: "InstanceNo", amount: "PayableAmount" }
  ]
]

type Fault = readonly [line: number, column: string, message: RegExp]

const faulty: ReadonlyArray<
  readonly [name: string, body: Body, query: Query, faults: ReadonlyArray<Fault>]
> = [
  ["empty", "", {}, [[1, "", /names of the columns/]]],
  ["blank", "\n\n", {}, [[1, "", /names of the columns/]]],
  ["names alone", "id,cost\n", {}, [[1, "", /a line under it/]]],
  ["without a column", "id,amount\na,1", {}, [[1, "cost", /there are "id", "amount"/]]],
  ["with a column twice", "id,cost,cost\na,1,2", {}, [[1, "cost", /one column/]]],
  [
    "with amounts that are none",
    "id,cost\na,1\nb,one\nc,\nd,1e3\ne,0x10\nf,1,5\ng,NaN",
    {},
    [
      [3, "cost", /a number such as 12.5/],
      [4, "cost", /a number/],
      [5, "cost", /a number/],
      [6, "cost", /a number/],
      [7, "", /2 cells.*it has 3/],
      [8, "cost", /a number/]
    ]
  ],
  ["with too many decimals", "id,cost\na,0.0000000001", {}, [[2, "cost", /at most 9 decimals/]]],
  ["with too much", "id,cost\na,2000000000", {}, [[2, "cost", /at most 1000000000/]]],
  [
    "with groups that are not expected",
    'id,cost\na,"1,234"\nb,"1,23"',
    {},
    [
      [2, "cost", /a number/],
      [3, "cost", /a number/]
    ]
  ],
  ["with crooked groups", 'id,cost\na,"1,23.5"', { thousands: "comma" }, [[2, "cost", /groups/]]],
  ["with a point for a comma", "id;cost\na;1.5", { decimal: "comma" }, [[2, "cost", /12,5/]]],
  [
    "without an id",
    "id,cost\n,1\n \t,1",
    {},
    [
      [2, "id", /an id of/],
      [3, "id", /an id of/]
    ]
  ],
  [
    "with an id of lines",
    'id,cost\n"a\nb",1\nc,x',
    {},
    [
      [2, "id", /control/],
      [4, "cost", /number/]
    ]
  ],
  ["in another currency", "id,cost,cur\na,1,USD", { currency: "cur" }, [[2, "cur", /CNY/]]],
  ["with an open quote", 'id,cost\na,1\n"b,2\nc,3', {}, [[3, "", /RFC 4180/]]],
  ["with a stray quote", 'id,cost\na,1\nb"x,2', {}, [[3, "", /RFC 4180/]]],
  [
    "in another encoding",
    Uint8Array.from([...Buffer.from("id,cost\na,1\n"), 0xb1, 0xe0, ...Buffer.from(",2\nc,x")]),
    {},
    [
      [3, "", /encoding/],
      [4, "cost", /number/]
    ]
  ]
]

const asked: ReadonlyArray<readonly [query: Query, param: string]> = [
  [{ channel: "nowhere" }, "channel"],
  [{ from: "yesterday" }, "from"],
  [{ to: "2019-01-01" }, "to"],
  [{ format: "excel" }, "format"],
  [{ encoding: "ebcdic" }, "encoding"],
  [{ delimiter: ";" }, "delimiter"],
  [{ decimal: "comma", thousands: "comma" }, "thousands"],
  [{ id: "" }, "id"]
]

const layerGateway = layerTestGateway("embedded", { ...quickSettings, maxListBytes: MAX_BYTES })

layer(layerGateway, { excludeTestServices: true, timeout: "60 seconds" })(
  "vendors' lists",
  (it) => {
    it.effect.each(good)("%s are read", ([, body, query]) =>
      Effect.gen(function* () {
        const { lines, totals } = yield* reconciled(body, query)
        assert.strictEqual(lines, 1)
        assert.deepInclude(totals.missing_here, { count: 1, amount_there: "1234.5" })
      })
    )

    it.effect.each(faulty)(
      "%s are refused, with the line of each fault",
      ([, body, query, faults]) =>
        Effect.gen(function* () {
          const before = yield* kept
          const answer = yield* send(body, query)
          assert.strictEqual(answer.status, 400, answer.text)
          const { error } = yield* bodyAs(Refused, answer)
          assert.strictEqual(error.code, "invalid_request")
          assert.deepStrictEqual(
            error.faults?.map(({ line, path }) => [line, path]),
            faults.map(([line, column]) => [line, column]),
            answer.text
          )
          for (const [index, [, , expected]] of faults.entries()) {
            assert.match(error.faults?.[index]?.message ?? "", expected)
          }
          assert.deepStrictEqual(yield* kept, before)
        })
    )

    it.effect.each(asked)("%j is refused, and %s named", ([query, param]) =>
      Effect.gen(function* () {
        const answer = yield* send("id,cost\na,1", query)
        assert.strictEqual(answer.status, 400, answer.text)
        assert.strictEqual((yield* bodyAs(Refused, answer)).error.param, param)
      })
    )

    it.effect("other media types are refused, and so is a list without ids or amounts", () =>
      Effect.gen(function* () {
        for (const type of ["application/json", "application/x-www-form-urlencoded"]) {
          const answer = yield* send("id,cost\na,1", {}, { "content-type": type })
          assert.strictEqual(answer.status, 415, answer.text)
          assert.include(answer.text, "text/csv")
        }
        const zipped = yield* send("id,cost\na,1", {}, { "content-encoding": "gzip" })
        assert.strictEqual(zipped.status, 415)
      })
    )

    it.effect("of many faults a thousand are told, and all are counted", () =>
      Effect.gen(function* () {
        const answer = yield* send(`id,cost\n${"a,x\n".repeat(1234)}`)
        const { error } = yield* bodyAs(Refused, answer)
        assert.lengthOf(error.faults ?? [], 1000)
        assert.include(error.message, "1234 faults")
      })
    )

    it.effect("a list is as long as it may be", () =>
      Effect.gen(function* () {
        const before = yield* kept
        const answer = yield* send(`id,cost\n${"a,1\n".repeat(MAX_BYTES / 4)}`)
        assert.strictEqual(answer.status, 413, answer.text)
        assert.deepStrictEqual(yield* kept, before)
      })
    )
  }
)
