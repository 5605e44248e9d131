import { Effect, Scope } from "effect"

/** Runs it when the scope closes, without the context, which costs a copy of it to restore. */
export const atScopeEnd = (run: () => void): Effect.Effect<void, never, Scope.Scope> =>
  Effect.flatMap(Effect.scope, (scope) => Scope.addFinalizer(scope, Effect.sync(run)))
