import BlueZ
import DBus
import Testing

@Suite struct BLEErrorTests {
    /// The name and the message of a D-Bus error, the resulting code, and a part of the hint.
    static let answers: [(DBusErrorName, String?, BLEError.Code, String)] = [
        ("org.bluez.Error.NotReady", "Resource Not Ready", .adapterOff, "rfkill"),
        ("org.bluez.Error.InProgress", "Operation already in progress", .busy, "pending or stale"),
        ("org.bluez.Error.NotPermitted", "Write acquired", .busy, "earlier session"),
        ("org.bluez.Error.NotPermitted", "Not paired", .notPaired, "bluetoothctl pair"),
        ("org.bluez.Error.NotPermitted", "Write not permitted", .notPermitted, "does not allow"),
        ("org.bluez.Error.NotAuthorized", nil, .notPermitted, "plugin"),
        ("org.freedesktop.DBus.Error.UnknownObject", nil, .notFound, "renumbered"),
        ("org.freedesktop.DBus.Error.ServiceUnknown", nil, .notRunning, "systemctl start bluetooth"),
        ("org.freedesktop.DBus.Error.NoReply", nil, .notRunning, "journalctl"),
        ("org.freedesktop.DBus.Error.AccessDenied", nil, .notPermitted, "usermod -aG bluetooth"),
        ("org.bluez.Error.NotConnected", nil, .disconnected, "connect again"),
        ("org.bluez.Error.Failed", "Not connected", .disconnected, "connect again"),
        ("org.bluez.Error.Failed", "Operation failed with ATT error: 0x05", .notPaired, "bluetoothctl pair"),
        ("org.bluez.Error.Failed", "Operation failed with ATT error: 0x0c", .notPaired, "bluetoothctl pair"),
        ("org.bluez.Error.Failed", "Operation failed with ATT error: 0x0e", .notPaired, "bluetoothctl pair"),
        ("org.bluez.Error.Failed", "Operation failed with ATT error: 0x0f", .notPaired, "bluetoothctl pair"),
    ]

    @Test(arguments: answers)
    func `A D-Bus error of bluetoothd maps to a code and a hint`(
        name: DBusErrorName, message: String?, code: BLEError.Code, hint: String
    ) {
        let error = BLEError(
            DBusError(.refused, name: name, message: message, activity: "calling"), activity: "connecting to HMSoft")
        #expect(error.code == code)
        #expect(error.hint?.contains(hint) == true)
        #expect(error.description.hasPrefix("connecting to HMSoft: "))
        #expect(error.description.contains(message ?? name.text))
    }

    /// The name and the message of a D-Bus error, and the beginning of the hint.
    static let activations: [(DBusErrorName, String, String)] = [
        (
            "org.freedesktop.DBus.Error.Spawn.Failed", "Launch helper exited with unknown return code 1",
            "start bluetoothd: sudo systemctl start bluetooth"
        ),
        ("org.freedesktop.DBus.Error.Spawn.ChildExited", "Process org.bluez exited with status 1", "start "),
        ("org.freedesktop.DBus.Error.Spawn.ServiceNotFound", "The name is not activatable", "start "),
        ("org.freedesktop.DBus.Error.TimedOut", "Failed to activate service 'org.bluez': timed out", "start "),
        ("org.freedesktop.systemd1.LoadFailed", "Unit failed to load", "start "),
        (
            "org.freedesktop.systemd1.NoSuchUnit", "Unit dbus-org.bluez.service not found.",
            "enable bluetoothd: sudo systemctl enable --now bluetooth"
        ),
        (
            "org.freedesktop.systemd1.UnitMasked", "Unit bluetooth.service is masked.",
            "unmask bluetoothd: sudo systemctl unmask --now bluetooth"
        ),
    ]

    @Test(arguments: activations)
    func `If the bus cannot start bluetoothd, the error is notRunning with a hint to start it`(
        name: DBusErrorName, message: String, hint: String
    ) {
        let error = BLEError(
            DBusError(.refused, name: name, message: message, activity: "calling"), activity: "scanning")
        #expect(error.code == .notRunning)
        #expect(error.reason == "bluetoothd failed to start: \(message)")
        #expect(error.hint?.hasPrefix(hint) == true, "\(error)")
    }

    @Test func `An unknown error of bluetoothd is passed on verbatim`() {
        let error = BLEError(
            DBusError(.refused, name: "org.bluez.Error.Failed", message: "br-connection-busy", activity: "calling"),
            activity: "connecting")
        #expect(error.code == .failed)
        #expect(error.description == "connecting: operation failed (br-connection-busy)")
    }

    @Test(arguments: ["0x05 and more", "0x", "0x105", "5", "0x80", "0x0", "0x+5", "0x0D"])
    func `An ATT error that is malformed, or not 0x05, 0x0C, 0x0E or 0x0F, is no missing pairing`(number: String) {
        let error = BLEError(
            DBusError(
                .refused, name: "org.bluez.Error.Failed", message: "Operation failed with ATT error: \(number)",
                activity: "calling"), activity: "reading")
        #expect(error.code == .failed)
    }

    @Test func `A missing bus, a bus that refuses this user, and a lost bus give different errors`() {
        func error(_ code: DBusError.Code, _ name: DBusErrorName?, _ message: String?, _ hint: String) -> BLEError {
            BLEError(
                DBusError(code, name: name, message: message, activity: "connecting", hint: hint), activity: "scanning")
        }
        let missing = error(.noBus, nil, "No such file or directory", "check the address")
        #expect(missing.reason == "the system bus can't be reached (No such file or directory)")
        #expect(
            missing.hint
                == "start the system bus: sudo systemctl start dbus; in a container: mount the host's /run/dbus")
        let refusing = error(.noBus, .authFailed, "it closed the connection at once", "check its policy")
        #expect(refusing.reason == "the system bus can't be reached (it closed the connection at once)")
        #expect(refusing.hint == "check its policy")
        let gone = error(.disconnected, nil, nil, "connect again")
        #expect(gone.reason == "the system bus has gone")
        #expect(gone.hint == "try again once the system bus is back")
    }

    @Test(arguments: [
        (DBusError.Code.noBus, BLEError.Code.noBus), (.timedOut, .timedOut), (.cancelled, .cancelled),
        (.disconnected, .noBus), (.closed, .closed), (.unexpectedValue, .failed),
        (.invalidArgument, .invalidArgument),
    ])
    func `A D-Bus error code maps to the matching BLE error code`(code: DBusError.Code, meaning: BLEError.Code) {
        #expect(BLEError(DBusError(code, activity: "calling"), activity: "scanning").code == meaning)
    }
}
