/** The sign-in page. The gateway itself decides whether a text is a valid key or token. */
import {
  Alert,
  Button,
  Card,
  Center,
  Divider,
  PasswordInput,
  Stack,
  Text,
  Title
} from "@mantine/core"
import { useForm } from "@mantine/form"
import { useMutation, useQuery } from "@tanstack/react-query"
import { useTranslation } from "react-i18next"
import { useLocation } from "wouter"
import { useSession } from "../gateway/hooks.tsx"
import { withSecret } from "../gateway/secrets.ts"
import { offersSignIn, signInAddress } from "../gateway/signIn.ts"
import { FailureNote } from "../parts/FailureNote.tsx"
import { isAt } from "../parts/isAt.ts"
import { pagesOf } from "./pages.ts"

const WIDTH = 460

export const SignIn = () => {
  const { t } = useTranslation()
  const { session, hasEnded, setSession } = useSession()
  const [location, navigate] = useLocation()
  const { data: hasSso = false } = useQuery({
    queryKey: ["signInMethods"],
    queryFn: offersSignIn,
    staleTime: Number.POSITIVE_INFINITY
  })
  const form = useForm({
    mode: "uncontrolled",
    initialValues: { secret: "" },
    validate: { secret: (text) => (text.trim() === "" ? t("signIn.empty") : null) }
  })
  const enter = useMutation({
    mutationFn: ({ secret }: { readonly secret: string }) => withSecret(session, secret.trim()),
    onSuccess: (nextSession) => {
      if (nextSession === null) return
      setSession(nextSession)
      // A link into the console opens its page after the sign-in too.
      if (!pagesOf(nextSession).some(({ path }) => isAt(location, path))) navigate("/")
    }
  })
  return (
    <Center mt="xl">
      <Card withBorder w="100%" maw={WIDTH} p="xl">
        <form onSubmit={form.onSubmit((values) => enter.mutate(values))} noValidate>
          <Stack>
            <Title order={1} size="h2">
              {t("signIn.title")}
            </Title>
            {hasSso && session.person == null ? (
              <>
                <Button component="a" href={signInAddress(window.location)}>
                  {t("signIn.sso")}
                </Button>
                <Divider label={t("signIn.or")} />
              </>
            ) : null}
            <Text>{t("signIn.lead")}</Text>
            <PasswordInput
              label={t("signIn.secret")}
              description={t("signIn.hint")}
              autoComplete="off"
              data-autofocus
              key={form.key("secret")}
              {...form.getInputProps("secret")}
            />
            {hasEnded && enter.isIdle ? (
              <Alert color="orange" role="status">
                {t("signIn.ended")}
              </Alert>
            ) : null}
            {enter.data === null ? (
              <Alert color="red" role="alert">
                {t("signIn.refused")}
              </Alert>
            ) : enter.error === null ? null : (
              <FailureNote error={enter.error} />
            )}
            <Button
              type="submit"
              loading={enter.isPending}
              {...(hasSso ? { variant: "default" } : {})}
            >
              {t("signIn.go")}
            </Button>
          </Stack>
        </form>
      </Card>
    </Center>
  )
}
