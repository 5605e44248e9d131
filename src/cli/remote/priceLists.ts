/** The commands of price lists, which stand over the catalog's prices for organisations. */
import { Effect, FileSystem, Option, Result, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { Day, PriceListTerms } from "../../domain/catalog/PriceList.ts"
import { issueFaults } from "../../domain/requestFields.ts"
import { PriceListView } from "../../features/priceLists/PriceListsApi.ts"
import { CommandFailure, failureOf } from "../failures.ts"
import { printPage, printResult } from "../output.ts"
import { after, limit } from "./accounts.ts"
import { asOperator } from "./connection.ts"

const encodeView = Schema.encodeEffect(PriceListView)

const list = Argument.String("list").pipe(Argument.withDescription("The price list's id"))

const decodeTerms = Schema.decodeUnknownResult(PriceListTerms, {
  onExcessProperty: "error",
  errors: "all"
})

const readPrices = Effect.fnUntraced(function* (file: string) {
  const files = yield* FileSystem.FileSystem
  const text = yield* Effect.mapError(files.readFileString(file), failureOf(file))
  return yield* Effect.mapError(
    Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Unknown))(text),
    () => new CommandFailure({ message: `${file} is no JSON` })
  )
})

const writtenFields = {
  name: Argument.String("name").pipe(Argument.withDescription("For people")),
  factor: Flag.String("factor").pipe(
    Flag.withDescription("By which all of the catalog's prices are multiplied, such as 0.85"),
    Flag.optional
  ),
  prices: Flag.File("prices", { mustExist: true }).pipe(
    Flag.withDescription("JSON of prices by model, each in the form of a model's prices"),
    Flag.optional
  ),
  holdsFrom: Flag.String("holds-from").pipe(
    Flag.withDescription("The day from which it holds, such as 2027-01-31; at once when left out"),
    Flag.withSchema(Day),
    Flag.optional
  ),
  watermark: Flag.Literals("watermark", ["on", "off"]).pipe(
    Flag.withDescription(
      "Whether orders of its organisations are marked as made by AI by default; as the gateway does when left out"
    ),
    Flag.map((mark) => ({ watermark: mark === "on" })),
    Flag.withDefault({})
  )
}

/** The body of a list from the flags, which give either a factor or prices. */
const bodyOf = Effect.fnUntraced(function* (fields: {
  readonly name: string
  readonly factor: Option.Option<string>
  readonly prices: Option.Option<string>
  readonly holdsFrom: Option.Option<string>
  readonly watermark: { readonly watermark?: boolean }
}) {
  const { name, factor, prices, holdsFrom, watermark } = fields
  if (Option.isSome(factor) === Option.isSome(prices)) {
    return yield* new CommandFailure({ message: "Expected either --factor or --prices" })
  }
  const terms = Option.isSome(prices)
    ? { prices: yield* readPrices(prices.value) }
    : { factor: Option.getOrUndefined(factor) }
  const decoded = decodeTerms(terms)
  if (Result.isSuccess(decoded)) {
    return { name, holds_from: Option.getOrNull(holdsFrom), ...watermark, ...decoded.success }
  }
  const faults = issueFaults(decoded.failure.issue).map(
    ({ path, message }) => `\n  ${path}: ${message}`
  )
  return yield* new CommandFailure({ message: `This is no price list:${faults.join("")}` })
})

const warningLines = (
  warnings: ReadonlyArray<{ readonly path: string; readonly message: string }>
): string => warnings.map(({ path, message }) => `\n? ${path}: ${message}`).join("")

export const priceListCommand = Command.make("price-list").pipe(
  Command.withDescription("Prices that stand over the catalog's for the organisations on a list"),
  Command.withSubcommands([
    Command.make("list", { after, limit }, ({ after, limit }) =>
      asOperator(({ gateway }) =>
        Effect.flatMap(gateway.priceLists.listPriceLists({ query: { ...after, limit } }), (page) =>
          printPage(
            page,
            ["id", "name", "factor", "models", "holds from", "organisations"],
            (one) => [
              one.id,
              one.name,
              one.factor,
              one.prices === null ? null : Object.keys(one.prices).length,
              one.holds_from,
              one.organizations
            ]
          )
        )
      )
    ).pipe(Command.withDescription("List price lists, newest first")),
    Command.make("show", { list }, ({ list }) =>
      asOperator(({ gateway }) =>
        Effect.gen(function* () {
          const one = yield* gateway.priceLists.readPriceList({ params: { id: list } })
          const encoded = yield* encodeView(one)
          yield* printResult(encoded, () => JSON.stringify(encoded, null, 2))
        })
      )
    ).pipe(Command.withDescription("Show one as JSON, with its prices")),
    Command.make("create", writtenFields, (fields) =>
      Effect.flatMap(bodyOf(fields), (payload) =>
        asOperator(({ gateway }) =>
          Effect.flatMap(gateway.priceLists.createPriceList({ payload }), ({ id, warnings }) =>
            printResult({ id, warnings }, () => `${id}${warningLines(warnings)}`)
          )
        )
      )
    ).pipe(
      Command.withDescription("Create one, and print its id"),
      Command.withExamples([
        {
          command: "media-gateway price-list create Partners --factor 0.85",
          description: "Then `media-gateway org price-list ORGANIZATION LIST`"
        }
      ])
    ),
    Command.make("replace", { list, ...writtenFields }, ({ list, ...fields }) =>
      Effect.flatMap(bodyOf(fields), (payload) =>
        asOperator(({ gateway }) =>
          Effect.flatMap(
            gateway.priceLists.replacePriceList({ params: { id: list }, payload }),
            ({ id, version, warnings }) =>
              printResult(
                { id, version, warnings },
                () => `${id} is at version ${version}.${warningLines(warnings)}`
              )
          )
        )
      )
    ).pipe(Command.withDescription("Replace one; what is held keeps its price")),
    Command.make("remove", { list }, ({ list }) =>
      asOperator(({ gateway }) =>
        Effect.flatMap(gateway.priceLists.removePriceList({ params: { id: list } }), (removed) =>
          printResult(removed, () => `${removed.id} is removed.`)
        )
      )
    ).pipe(Command.withDescription("Remove one that no organisation is on"))
  ])
)
