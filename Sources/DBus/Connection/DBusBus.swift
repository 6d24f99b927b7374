internal import Glibc

/// A message bus to connect to.
public enum DBusBus: Sendable, Hashable {
    /// The system bus: the one at `DBUS_SYSTEM_BUS_ADDRESS`, or else at `/run/dbus/system_bus_socket`.
    case system
    /// The session bus: the one at `DBUS_SESSION_BUS_ADDRESS`, or else at the socket `bus` in `XDG_RUNTIME_DIR`.
    case session
    /// The bus at an address such as `unix:path=/run/dbus/system_bus_socket`. Connecting over TCP blocks the loop.
    case address(String)

    /// The address; nil if neither variable of ``session`` is set.
    var address: String? {
        switch self {
        case .system: Self.variable("DBUS_SYSTEM_BUS_ADDRESS") ?? "unix:path=/run/dbus/system_bus_socket"
        case .session:
            Self.variable("DBUS_SESSION_BUS_ADDRESS")
                ?? Self.variable("XDG_RUNTIME_DIR").map { "unix:path=\($0)/bus" }
        case .address(let address): address
        }
    }

    private static func variable(_ name: String) -> String? {
        guard let value = getenv(name), value.pointee != 0 else { return nil }
        return String(cString: value)
    }

    /// The name of the bus for messages.
    var name: String {
        switch self {
        case .system: "the system bus"
        case .session: "the session bus"
        case .address(let address): "the bus at \(address)"
        }
    }
}
