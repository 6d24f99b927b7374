internal import BlueZ
internal import DBus
internal import DescriptorIO
internal import LineProtocol
internal import Transports

/// What there is of Bluetooth on this computer.
struct BluetoothState {
    enum Daemon: Equatable {
        case running
        case notRunning
        case notInstalled
        /// The system bus can't be reached, with why.
        case noBus(String)
        /// It does not answer as it should, with why, what mends it, and how a link fails that it stops.
        case refuses(String, remedy: String?, LinkError.Code)
    }

    struct Controller: Equatable {
        /// As `hci0`.
        var name: String
        var address: String
        var isPowered: Bool
    }

    var daemon: Daemon
    /// Those that bluetoothd shows.
    var adapters: [Controller] = []
    /// The names of those that the kernel has.
    var kernelAdapters: [String] = []
    var switches: [RadioSwitch] = []
    var version: BlueZVersion?
    /// What bluetoothd was started with; nil where that can't be seen.
    var arguments: [String]?
    /// What bluetoothd is set up to.
    var settings = DaemonSettings("")
    var libraryVersion = DBusLibrary.version
    /// The file of libdbus; nil where it is linked into the program.
    var libraryPath = SharedLibraries.loaded().path(of: "libdbus-1")

    /// Whether bluetoothd becomes a client of each phone that connects to it, and reads its battery, for which an iPhone
    /// wants to pair (bluez#38).
    var readsPhones: Bool {
        guard daemon == .running, let arguments else { return false }
        // Older ones know no such setting.
        let knowsSetting = version.map { $0 >= BlueZVersion(5, 74) } ?? true
        return BatteryTrap(commandLine: arguments, settings: knowsSetting ? settings : DaemonSettings("")).isOpen
    }

    /// Whether bluetoothd opens several channels to one of its like (EATT), in which notifications overtake one another.
    var opensSeveralChannels: Bool {
        guard daemon == .running else { return false }
        if let channels = settings["GATT", "Channels"].flatMap({ Int($0) }), channels > 0 { return channels > 1 }
        // 3 unless it is told otherwise, until 5.67 made it 1.
        return version.map { $0 >= BlueZVersion(5, 54) && $0 < BlueZVersion(5, 67) } ?? false
    }
}

extension BluetoothState {
    /// As it is now. Nothing is started or changed.
    static func now(on loop: EventLoop) async -> BluetoothState {
        var state = BluetoothState(daemon: .notRunning)
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
                state.daemon = .refuses(error.reason, remedy: error.hint, code)
            }
        }
        state.version =
            state.version ?? TextFile.contents(of: "/var/lib/dpkg/status").flatMap { BlueZVersion(packages: $0) }
        return state
    }

    /// To ask bluetoothd something would start it, which takes up to half a minute where it can't be: the bus is asked.
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
