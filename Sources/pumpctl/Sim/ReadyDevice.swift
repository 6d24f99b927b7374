import DeviceKit
import Glibc
import LineProtocol
import Synchronization

/// A simulated device that other programs can open now.
struct ReadyDevice: Sendable {
    /// The device's number in control commands.
    var number: Int
    var family: String
    /// The endpoint of the device.
    var port: String
    /// The location of the device, for people.
    var text: String
    /// Facts about a device that is offered over BLE: its name, and the name and address of the adapter. Empty for a
    /// device on a line.
    var radio: [String: String] = [:]

    /// The record that the device is ready, for programs.
    var record: ResultRecord {
        let values: ResultRecord = ["ok": true, "event": "ready", "port": port, "pid": getpid()]
        return radio.isEmpty ? values : ResultRecord(radio, with: values)
    }
}

/// Collects the devices of a set as they become ready.
final class ReadyDevices: Sendable {
    private let devices = Mutex<[Int: ReadyDevice]>([:])
    private let count: Int

    /// Creates a set without ready devices.
    ///
    /// - Parameter count: The number of devices in the set.
    init(of count: Int) { self.count = count }

    /// Adds a device.
    ///
    /// - Returns: All devices, ordered by number, if `device` is the last one to become ready; nil otherwise, and if
    ///   `device` was ready before.
    func add(_ device: ReadyDevice) -> [ReadyDevice]? {
        devices.withLock { devices in
            guard devices.updateValue(device, forKey: device.number) == nil, devices.count == count else { return nil }
            return devices.values.sorted { $0.number < $1.number }
        }
    }
}

extension [ReadyDevice] {
    /// Returns the record of `--wait`: one JSON object with everything that a script needs to use these devices and to
    /// end them.
    ///
    /// - Parameters:
    ///   - control: The path of the control socket.
    ///   - seed: The seed of the first device.
    ///   - isList: Whether to list the ports of several devices, rather than to describe the only device.
    func record(control: String, seed: UInt64, isList: Bool) -> ResultRecord {
        let common: ResultRecord = [
            "ok": true, "event": "ready", "pid": getpid(), "control": control, "seed": seed,
            "family": first?.family,
        ]
        guard isList else { return ResultRecord(first?.record ?? [:], with: common) }
        let families = map(\.family)
        let isMixed = Set(families).count > 1
        return ResultRecord(
            common, with: ["ports": map(\.port), "families": isMixed ? families : nil] as ResultRecord
        ).known
    }

    /// The environment variables by which a command finds these devices: `PUMPCTL_PORT` for the first, and one for each
    /// family, such as `PUMPCTL_PORT_LED`. Further devices of a family are numbered, as in `PUMPCTL_PORT_LED_2`.
    var variables: [String: String] {
        var variables = ["PUMPCTL_PORT": first?.port].compactMapValues(\.self)
        var counts: [String: Int] = [:]
        for device in self {
            let count = (counts[device.family] ?? 0) + 1
            counts[device.family] = count
            variables[Self.variable(of: device.family, count)] = device.port
        }
        return variables
    }

    /// Returns the variable of a device by its number in its family, from 1.
    fileprivate static func variable(of family: String, _ number: Int) -> String {
        "PUMPCTL_PORT_\(family.uppercased())" + (number > 1 ? "_\(number)" : "")
    }
}

extension Family {
    /// Returns the family of the simulated device at an endpoint, if a simulator has started this program and passed it
    /// the endpoint in a variable, as `sim led --run` does; nil for any other endpoint.
    static func handedOver(at endpoint: String) -> Family? {
        FamilyRow.all.map(\.family).first { family in
            var number = 1
            while let port = getenv([ReadyDevice].variable(of: family.name, number)) {
                if String(cString: port) == endpoint { return true }
                number += 1
            }
            return false
        }
    }
}
