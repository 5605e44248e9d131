/** Exports all charges, as CSV for a spreadsheet or as JSON for a program. */
import { Console, Effect, FileSystem, Option, Sink, Stream } from "effect"
import { Command, Flag } from "effect/cli"
import { type CommandFailure, failureOf, toCommandFailure } from "../failures.ts"
import { Json } from "../output.ts"
import { asMember, asOperator, type Remote, readAs } from "./connection.ts"

const PAGE = 100

/** The address of the next page, from the header `link`. */
const nextOf = (link: string | undefined): string | null =>
  /<([^>]+)>\s*;\s*rel="next"/.exec(link ?? "")?.[1] ?? null

/** All pages as one CSV file, with the header row only once. */
const asCsv = (remote: Remote, path: string, filter: string) =>
  Stream.paginate(`${path}?limit=${PAGE}${filter}`, (page) =>
    Effect.gen(function* () {
      const response = yield* readAs(remote, page, "text/csv")
      const text = yield* Effect.mapError(response.text, toCommandFailure(remote.address))
      const rows = page.includes("after=") ? text.slice(text.indexOf("\n") + 1) : text
      return [[rows], Option.fromNullishOr(nextOf(response.headers.link))] as const
    })
  )

interface Page {
  readonly data: ReadonlyArray<{ readonly id: string }>
  readonly has_more: boolean
}

/** All pages as one JSON list. */
const asJson = <E, R>(
  { address }: Remote,
  read: (after: { readonly after?: string }) => Effect.Effect<Page, E, R>
) => {
  const pages = Stream.paginate<
    { readonly after?: string; readonly isFirst: boolean },
    string,
    CommandFailure,
    R
  >({ isFirst: true }, ({ isFirst, ...after }) =>
    Effect.map(Effect.mapError(read(after), toCommandFailure(address)), ({ data, has_more }) => {
      const last = data.at(-1)
      const entries = data.map((entry) => JSON.stringify(entry)).join(",\n")
      const text = data.length === 0 ? "" : `${isFirst ? "" : ","}${entries}`
      const next = has_more && last !== undefined ? { after: last.id, isFirst: false } : null
      return [[text], Option.fromNullishOr(next)] as const
    })
  )
  return Stream.concat(
    Stream.concat(Stream.make('{"object":"list","data":['), pages),
    Stream.make('],"has_more":false}')
  )
}

const exportUsage = Command.make(
  "export",
  {
    organization: Flag.String("organization").pipe(
      Flag.withDescription(
        "Id of the organisation; without it what the key in GATEWAY_KEY ordered"
      ),
      Flag.optional
    ),
    tag: Flag.String("tag").pipe(
      Flag.withDescription("Only orders with this note, such as project=lighthouse"),
      Flag.map((tag) => ({ tag })),
      Flag.withDefault({})
    ),
    output: Flag.File("output").pipe(
      Flag.withAlias("o"),
      Flag.withDescription("File to write, instead of the standard output"),
      Flag.optional
    )
  },
  Effect.fn("cli.usageExport")(function* ({ organization, tag, output }) {
    const files = yield* FileSystem.FileSystem
    const isJson = yield* Json
    const write = <R>(pieces: Stream.Stream<string, CommandFailure, R>) =>
      Option.match(output, {
        onNone: () =>
          // `Console.log` adds the newline that is cut off here.
          Stream.runForEach(pieces, (piece) => Console.log(piece.replace(/\n$/, ""))),
        onSome: (file) =>
          Stream.run(Stream.encodeText(pieces), Sink.mapError(files.sink(file), failureOf(file)))
      })
    const tagQuery = "tag" in tag ? `&tag=${encodeURIComponent(tag.tag)}` : ""
    yield* Option.match(organization, {
      onNone: () =>
        asMember((remote) =>
          write(
            isJson
              ? asJson(remote, (after) =>
                  remote.gateway.account.usage({ query: { ...after, ...tag, limit: PAGE } })
                )
              : asCsv(remote, "/v1/usage", tagQuery)
          )
        ),
      onSome: (id) =>
        asOperator((remote) =>
          write(
            isJson
              ? asJson(remote, (after) =>
                  remote.gateway.admin.readUsage({
                    params: { id },
                    query: { ...after, ...tag, limit: PAGE }
                  })
                )
              : asCsv(remote, `/admin/v1/organizations/${encodeURIComponent(id)}/usage`, tagQuery)
          )
        )
    })
  })
).pipe(Command.withDescription("Every charge as CSV, or as one JSON document with --json"))

export const usageCommand = Command.make("usage").pipe(
  Command.withDescription("What was charged"),
  Command.withSubcommands([exportUsage])
)
