/** What organisations, members and keys are called, as far as a page of each tells. */
import { Effect } from "effect"
import { useAsk } from "../../gateway/hooks.tsx"

const MOST = 100
const page = { totals: "false" as const, limit: MOST }
type Named = { readonly data: ReadonlyArray<{ readonly id: string; readonly name: string }> }

const pairsOf = ({ data }: Named) => data.map(({ id, name }) => [id, name] as const)

/** By ids; of one organisation its members and keys, and otherwise organisations. */
export const useNames = (organizationId: string | null): ReadonlyMap<string, string> => {
  const names = useAsk(["books", organizationId ?? "all", "names"], (gateway) =>
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
