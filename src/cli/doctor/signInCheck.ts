/** A check of the identity provider with whose accounts people sign in. */
import { Effect, Result } from "effect"
import { makeIdentityProvider } from "../../features/signIn/IdentityProvider.ts"
import { CALLBACK_PATH, isSecure, signInConfigOf } from "../../features/signIn/SignInConfig.ts"
import { type Check, errorFinding, okFinding, warningFinding } from "./findings.ts"

export const signInCheck: Check = {
  name: "Sign-in",
  run: Effect.fnUntraced(function* ({ config }) {
    if (config === null) return []
    const signIn = signInConfigOf(config)
    if (Result.isFailure(signIn)) {
      return [errorFinding(`${signIn.failure}.`, "Set it, or unset the other variables.")]
    }
    if (signIn.success === null) return []
    const redirect = `${signIn.success.publicUrl}${CALLBACK_PATH}`
    const answer = yield* Effect.result(makeIdentityProvider(signIn.success).check)
    return [
      Result.isFailure(answer)
        ? errorFinding(`${answer.failure.message}.`, "See GATEWAY_OIDC_ISSUER.")
        : okFinding(
            `${signIn.success.issuer} answers. It must know the redirect address ${redirect}.`
          ),
      ...(isSecure(signIn.success)
        ? []
        : [
            warningFinding(
              "GATEWAY_PUBLIC_URL is not https, so that the cookies of sessions can be read on the way.",
              "Use https, unless browsers run on this machine."
            )
          ])
    ]
  })
}
