/** The configuration of sign-in, from the environment variables `GATEWAY_OIDC_...`. */
import { Context, type Redacted, Result, Schema } from "effect"
import { isLoopbackHost } from "../../domain/catalog/origin.ts"
import { Role } from "../../services/operators/Operators.ts"
import { parseRules, type Rule } from "./signInRules.ts"

const isRole = Schema.is(Role)

/**
 * The issuer of the identity provider; an empty text counts as absent. The gateway speaks without TLS
 * to its own machine alone.
 */
export const Issuer = Schema.String.check(
  Schema.makeFilter(
    (text) => {
      const url = URL.parse(text)
      return (
        text === "" ||
        url?.protocol === "https:" ||
        (url?.protocol === "http:" && isLoopbackHost(url.hostname))
      )
    },
    { expected: "an issuer such as https://login.example.com; http only on this machine" }
  )
)

export const Scopes = Schema.String.check(
  Schema.makeFilter((text) => text.split(/\s+/).includes("openid"), {
    expected: "scopes with spaces between them, openid among them"
  })
)

const rolesOf = (text: string): ReadonlyArray<Rule<Role>> | null => {
  const rules = parseRules(text)
  const roles = (rules ?? []).flatMap(({ subject, right }) =>
    isRole(right) ? [{ subject, right }] : []
  )
  return rules === null || roles.length < rules.length ? null : roles
}

export const RoleRules = Schema.String.check(
  Schema.makeFilter((text) => rolesOf(text) !== null, {
    expected: `group=role pairs with commas between them, of the roles ${Role.literals.join(", ")}`
  })
)

export const OrganizationRules = Schema.String.check(
  Schema.makeFilter((text) => parseRules(text) !== null, {
    expected: "pairs such as @example.com=org_... or group=org_..., with commas between them"
  })
)

export const roleRulesOf = (text: string): ReadonlyArray<Rule<Role>> => rolesOf(text) ?? []
export const organizationRulesOf = (text: string): ReadonlyArray<Rule<string>> =>
  parseRules(text) ?? []

export interface SignInConfig {
  /** The address at which browsers reach the gateway, without a slash at the end. */
  readonly publicUrl: string
  readonly issuer: string
  readonly clientId: string
  /** Null for a public client. */
  readonly clientSecret: Redacted.Redacted | null
  readonly scopes: string
  readonly groupsClaim: string
  readonly roles: ReadonlyArray<Rule<Role>>
  readonly organizations: ReadonlyArray<Rule<string>>
}

/** Null where sign-in is off. */
export const SignInConfig = Context.Reference<SignInConfig | null>(
  "gateway/features/signIn/SignInConfig",
  { defaultValue: () => null }
)

interface Variables {
  readonly oidcIssuer: string
  readonly oidcClientId: string
  readonly oidcClientSecret: Redacted.Redacted | null
  readonly oidcScopes: string
  readonly oidcGroupsClaim: string
  readonly oidcRoles: ReadonlyArray<Rule<Role>>
  readonly oidcOrganizations: ReadonlyArray<Rule<string>>
  readonly settings: { readonly publicUrl: string }
}

/** The configuration; null where nothing of it is set, and a sentence where a part is missing. */
export const signInConfigOf = (config: Variables): Result.Result<SignInConfig | null, string> => {
  const { oidcIssuer, oidcClientId, oidcClientSecret, oidcRoles, oidcOrganizations } = config
  const { publicUrl } = config.settings
  const required = [
    ["GATEWAY_OIDC_ISSUER", oidcIssuer !== ""],
    ["GATEWAY_OIDC_CLIENT_ID", oidcClientId !== ""]
  ] as const
  const present = [
    ...required,
    ["GATEWAY_OIDC_CLIENT_SECRET", oidcClientSecret !== null],
    ["GATEWAY_OIDC_ROLES", oidcRoles.length > 0],
    ["GATEWAY_OIDC_ORGANIZATIONS", oidcOrganizations.length > 0]
  ] as const
  const firstSet = present.find(([, isSet]) => isSet)
  if (firstSet === undefined) return Result.succeed(null)
  const missing = [...required, ["GATEWAY_PUBLIC_URL", publicUrl !== ""] as const].find(
    ([, isSet]) => !isSet
  )
  if (missing !== undefined) {
    return Result.fail(`${firstSet[0]} is set, but ${missing[0]} is not: sign-in needs both`)
  }
  if (oidcRoles.length === 0 && oidcOrganizations.length === 0) {
    return Result.fail(
      "GATEWAY_OIDC_ISSUER is set, but neither GATEWAY_OIDC_ROLES nor GATEWAY_OIDC_ORGANIZATIONS is, so that nobody could sign in"
    )
  }
  return Result.succeed({
    publicUrl,
    issuer: oidcIssuer,
    clientId: oidcClientId,
    clientSecret: oidcClientSecret,
    scopes: config.oidcScopes,
    groupsClaim: config.oidcGroupsClaim,
    roles: oidcRoles,
    organizations: oidcOrganizations
  })
}

export const CALLBACK_PATH = "/auth/callback"
/** Where the browser is after a logout at the provider, which has to know this address. */
export const CONSOLE_PATH = "/console/"

export const isSecure = ({ publicUrl }: SignInConfig): boolean => publicUrl.startsWith("https:")

/**
 * The name of a cookie. With the prefix, browsers take the cookie over TLS alone and from this host
 * alone, so that no other host of the domain can set it.
 */
export const cookieNameOf = (config: SignInConfig, name: "session" | "sign_in"): string =>
  `${isSecure(config) ? "__Host-" : ""}media_gateway_${name}`
