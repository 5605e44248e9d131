import { notifications } from "@mantine/notifications"

/** Makes the options of a mutation that shows its success and then closes its dialog. */
export const successNotice = (close: () => void) => (message: string) => ({
  onSuccess: () => {
    notifications.show({ message })
    close()
  }
})
