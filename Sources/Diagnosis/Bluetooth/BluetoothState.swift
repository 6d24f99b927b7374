internal import BlueZ
internal import DBus
internal import DescriptorIO
internal import LineProtocol
internal import Transports

/// The state of Bluetooth on this computer.
struct BluetoothState {
    enum Daemon: Equatable {
        case running
        case notRunning
        case notInstalled
        /// The system bus can't be reached, for the given reason.
        case noBus(String)
        /// bluetoothd answers with an error: the reason, the remedy, and the error of a link that fails for this
        /// reason.
        case refuses(String, remedy: Remedy?, LinkError.Code)
    }

    struct Controller: Equatable {
        /// The name, such as `hci0`.
        var name: String
        var address: String
        var isPowered: Bool
    }

    var daemon: Daemon
    /// The adapters that bluetoothd reports.
    var adapters: [Controller] = []
    /// The names of the adapters that the kernel reports.
    var kernelAdapters: [String] = []
    var switches: [RadioSwitch] = []
    var version: BlueZVersion?
    /// The command line of bluetoothd; nil if bluetoothd does not run, or its command line is not visible.
    var arguments: [String]?
    /// The settings of bluetoothd in /etc/bluetooth/main.conf; empty if the file can't be read.
    var settings = DaemonSettings("")
    var libraryVersion = DBusLibrary.version
    /// The path of libdbus; nil if the program is linked statically with it.
    var libraryPath = SharedLibraries.loaded().path(of: "libdbus-1")

    /// Whether bluetoothd becomes a GATT client of each phone that connects, and reads its battery level, for which an
    /// iPhone asks to pair (bluez#38).
    var readsPhones: Bool {
        guard daemon == .running, let arguments else { return false }
        // Versions before 5.74 don't have the setting `Client`.
        let knowsSetting = version.map { $0 >= BlueZVersion(5, 74) } ?? true
        return BatteryTrap(commandLine: arguments, settings: knowsSetting ? settings : DaemonSettings("")).isOpen
    }

    /// Whether bluetoothd opens several channels (EATT) to another bluetoothd, so that notifications can arrive out of
    /// order.
    var opensSeveralChannels: Bool {
        guard daemon == .running else { return false }
        if let channels = settings["GATT", "Channels"].flatMap({ Int($0) }), channels > 0 { return channels > 1 }
        // The default is 3 channels from version 5.54 to 5.66, and 1 channel since 5.67.
        return version.map { $0 >= BlueZVersion(5, 54) && $0 < BlueZVersion(5, 67) } ?? false
    }
}

extension BluetoothState {
    /// Reads the present state. Starts and changes nothing.
    static func now(on loop: EventLoop) async -> BluetoothState {
        var state = BluetoothState(daemon: .notRunning)
        // The folder also contains connections, such as `hci0:11`.
        state.kernelAdapters = Folder.names(in: "/sys/class/bluetooth").filter { !$0.contains(":") }
        state.switches = RadioSwitch.all()
        state.arguments = RunningPrograms.arguments(of: "bluetoothd")
        state.settings = DaemonSettings(TextFile.contents(of: "/etc/bluetooth/main.conf") ?? "")
        state.daemon = await daemon(on: loop)
        if state.daemon == .running {
            do throws(BLEError) {
                let bluez = try await BlueZ.open(on: loop)
                let adapters = await bluez.adapters
                await bluez.close()
                state.adapters = adapters.map {
                    Controller(name: $0.name, address: $0.address.description, isPowered: $0.isPowered)
                }
                state.version = adapters.lazy.compactMap(\.modalias).compactMap { BlueZVersion(modalias: $0) }.first
            } catch {
                let code = LinkError(error, name: "").code
                let group = error.name == .accessDenied ? "bluetooth" : nil
                state.daemon = .refuses(error.reason, remedy: error.hint.map { .joining(group, $0) }, code)
            }
        }
        state.version =
            state.version ?? TextFile.contents(of: "/var/lib/dpkg/status").flatMap { BlueZVersion(packages: $0) }
        return state
    }

    /// Returns the state of bluetoothd. Asks the bus and not bluetoothd itself: a request would start bluetoothd, and a
    /// failed start takes up to half a minute.
    private static func daemon(on loop: EventLoop) async -> Daemon {
        let bus: DBusConnection
        do throws(DBusError) { bus = try await DBusConnection.open(.system, on: loop) } catch {
            return .noBus(BLEError(error, activity: "").reason)
        }
        let owner = try? await bus.owner(of: "org.bluez")
        await bus.close()
        if owner != nil { return .running }
        let places = ["libexec", "lib"].map { "/usr/\($0)/bluetooth" }
        return places.contains { Folder.names(in: $0).contains("bluetoothd") } ? .notRunning : .notInstalled
    }
}
