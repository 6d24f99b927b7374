import DBus
import Testing

@testable import BlueZ

@Suite struct ConnectRetriesTests {
    private func answer(_ name: DBusErrorName, _ message: String) -> BLEError {
        BLEError(DBusError(.refused, name: name, message: message, activity: "calling"), activity: "connecting")
    }

    @Test(arguments: ["le-connection-abort-by-local", "br-connection-canceled"])
    func `A transient connection error is retried nine times, 250 ms apart`(message: String) {
        var retries = ConnectRetries()
        for _ in 0..<9 {
            #expect(retries.next(after: answer(.bluez("Failed"), message)) == .retry(after: .milliseconds(250)))
        }
        #expect(retries.next(after: answer(.bluez("Failed"), message)) == .giveUp)
    }

    @Test(arguments: [
        ("org.bluez.Error.Failed" as DBusErrorName, "Input/output error"),
        ("org.bluez.Error.InProgress", "Operation already in progress"),
        ("org.freedesktop.DBus.Error.UnknownObject", "gone"), ("org.bluez.Error.NotConnected", "Not Connected"),
    ])
    func `A connection error that is neither transient nor permanent is retried four times, with doubled delays`(
        name: DBusErrorName, message: String
    ) {
        var retries = ConnectRetries()
        for pause in [250, 500, 1000, 2000] {
            #expect(retries.next(after: answer(name, message)) == .retry(after: .milliseconds(pause)))
        }
        #expect(retries.next(after: answer(name, message)) == .giveUp)
    }

    @Test(arguments: [
        "org.bluez.Error.NotReady" as DBusErrorName, "org.freedesktop.DBus.Error.ServiceUnknown",
        "org.freedesktop.DBus.Error.AccessDenied", "org.bluez.Error.NotAuthorized",
    ])
    func `A permanent connection error is not retried`(name: DBusErrorName) {
        var retries = ConnectRetries()
        #expect(retries.next(after: answer(name, "")) == .giveUp)
    }

    @Test func `A device that was not found is not searched for again`() {
        var retries = ConnectRetries()
        #expect(retries.next(after: BLEError(.notFound, activity: "looking")) == .giveUp)
    }
}
