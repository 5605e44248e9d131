/**
 * The names of organisations, members and keys, as far as the first page of each list contains
 * them.
 */
import { Effect } from "effect"
import { useApiQuery } from "../../gateway/hooks.tsx"

const MAX_NAMES = 100
const page = { totals: "false" as const, limit: MAX_NAMES }
type NamedList = { readonly data: ReadonlyArray<{ readonly id: string; readonly name: string }> }

const pairsOf = ({ data }: NamedList) => data.map(({ id, name }) => [id, name] as const)

/** Names by id: of an organisation's members and keys, or of organisations. */
export const useNames = (organizationId: string | null): ReadonlyMap<string, string> => {
  const names = useApiQuery(["books", organizationId ?? "all", "names"], (gateway) =>
    organizationId === null
      ? Effect.map(gateway.accounts.listOrganizations({ query: page }), pairsOf)
      : Effect.map(
          Effect.all([
            gateway.accounts.listMembers({ query: { ...page, organization_id: organizationId } }),
            gateway.accounts.listKeys({ query: { ...page, organization_id: organizationId } })
          ]),
          ([members, keys]) => [...pairsOf(members), ...pairsOf(keys)]
        )
  )
  return new Map(names.data ?? [])
}
