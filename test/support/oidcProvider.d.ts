/** Types of the part of oidc-provider that is used; the package has none. */
declare module "oidc-provider" {
  import type { RequestListener } from "node:http"

  type Claims = Readonly<Record<string, unknown>>

  export default class Provider {
    constructor(
      issuer: string,
      options: {
        readonly clients: ReadonlyArray<Claims>
        readonly claims: Readonly<Record<string, ReadonlyArray<string>>>
        readonly scopes: ReadonlyArray<string>
        readonly features: Readonly<Record<string, { readonly enabled: boolean }>>
        readonly pkce: { readonly required: () => boolean }
        readonly cookies: { readonly keys: ReadonlyArray<string> }
        readonly fetch: (
          url: string,
          options: RequestInit & { readonly dispatcher?: unknown }
        ) => Promise<Response>
        readonly findAccount: (
          context: unknown,
          subject: string
        ) => { readonly accountId: string; readonly claims: () => Claims }
      }
    )
    callback(): RequestListener
  }
}
