/**
 * The vendors that the catalog describes by documents. The store of the catalog sets them whenever
 * it loads a version, and the tables of protocols and adapters follow.
 */
import { Context, Effect, Layer } from "effect"
import { type ProtocolTables, protocolsWith } from "../domain/catalog/ProtocolTables.ts"
import type { QueueDocument } from "../domain/queue/QueueDocument.ts"
import { liveMap } from "../runtime/liveMap.ts"
import { Protocols } from "./ProtocolAdapter.ts"

type Documents = ReadonlyArray<QueueDocument>

interface StoredDocumentsShape {
  /** The documents of the version in force. The same list until another version is loaded. */
  readonly current: () => Documents
  /** Sets the documents of the version that is in force from now on. */
  readonly replace: (documents: Documents) => void
}

const noDocuments: Documents = []

/** Without `layerStoredDocuments`, the documents of the catalog have no rows and no adapters. */
export const StoredDocuments = Context.Reference<StoredDocumentsShape>(
  "gateway/services/StoredDocuments",
  { defaultValue: () => ({ current: () => noDocuments, replace: () => {} }) }
)

const makeStoredDocuments = (): StoredDocumentsShape => {
  let documents = noDocuments
  return {
    current: () => documents,
    replace: (next) => {
      documents = next
    }
  }
}

/** Computes a value of the documents once for each version of the catalog. */
export const byDocuments = <A>(
  { current }: StoredDocumentsShape,
  compute: (documents: Documents) => A
): (() => A) => {
  let memo: { readonly documents: Documents; readonly value: A } | null = null
  return () => {
    const documents = current()
    if (memo?.documents !== documents) memo = { documents, value: compute(documents) }
    return memo.value
  }
}

const liveTables = (builtIn: ProtocolTables, stored: StoredDocumentsShape): ProtocolTables => {
  const tables = byDocuments(stored, (documents) => protocolsWith(builtIn, documents))
  return {
    ...builtIn,
    builtIn,
    video: liveMap(() => tables().video),
    image: liveMap(() => tables().image)
  }
}

/** The protocols of the gateway, with those of the catalog's documents. */
export const layerStoredDocuments = Layer.effectContext(
  Effect.map(Protocols, (builtIn) => {
    const stored = makeStoredDocuments()
    return Context.make(StoredDocuments, stored).pipe(
      Context.add(Protocols, liveTables(builtIn, stored))
    )
  })
)
