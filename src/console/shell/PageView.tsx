/** The open page while its code is loaded, and a notice where the key lacks the page's scopes. */
import { Alert, Center, Loader, Stack, Title } from "@mantine/core"
import { Suspense } from "react"
import { useTranslation } from "react-i18next"
import { useHasScopes, useMe } from "../gateway/me.ts"
import type { Page } from "./pages.ts"

export const PageView = ({ page: { name, scopes = [], view: View } }: { readonly page: Page }) => {
  const { t } = useTranslation()
  const { data: me } = useMe()
  const isAllowed = useHasScopes(...scopes)
  if (!isAllowed && me !== undefined) {
    return (
      <Stack>
        <Title order={1}>{t(`pages.${name}`)}</Title>
        <Alert color="orange" role="status">
          {t("needsScope", { scopes: scopes.join(` ${t("or")} `), has: me.scopes.join(", ") })}
        </Alert>
      </Stack>
    )
  }
  return (
    <Suspense
      fallback={
        <Center h={200}>
          <Loader />
        </Center>
      }
    >
      <View />
    </Suspense>
  )
}
