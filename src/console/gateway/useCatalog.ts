/** The catalog as the gateway shows it, for the names and the mounts in it. */
import { useApiQuery } from "./hooks.tsx"

export const useCatalog = () =>
  useApiQuery(["catalog", "document"], (gateway) => gateway.admin.readCatalog({}))
