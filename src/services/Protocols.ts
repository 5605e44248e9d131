/**
 * The protocols this gateway knows: the built-in ones, unless a layer says otherwise. A row that is
 * added here needs an adapter of the same name in `ProtocolAdapter`.
 */
import { Context } from "effect"
import { builtInProtocols, type ProtocolTables } from "../domain/catalog/ProtocolTables.ts"

export const Protocols = Context.Reference<ProtocolTables>("gateway/services/Protocols", {
  defaultValue: () => builtInProtocols
})
