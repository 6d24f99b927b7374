import DeviceKit
import Glibc
import LineProtocol
import Synchronization

/// A simulated device that other programs can open by now.
struct ReadyDevice: Sendable {
    /// What it is called where it is controlled.
    var number: Int
    var family: String
    /// The endpoint that it is reached by.
    var port: String
    /// Where it is, for people.
    var text: String
    /// What is told of one that is offered over BLE: its name, and its adapter.
    var radio: [String: String] = [:]

    /// That it is there, as programs are told of it.
    var record: ResultRecord {
        let values: ResultRecord = ["ok": true, "event": "ready", "port": port, "pid": getpid()]
        return radio.isEmpty ? values : ResultRecord(radio, with: values)
    }
}

/// Those of several devices that are there by now.
final class ReadyDevices: Sendable {
    private let devices = Mutex<[Int: ReadyDevice]>([:])
    private let count: Int

    /// - Parameter count: How many there are to be.
    init(of count: Int) { self.count = count }

    /// Takes in that one is there.
    ///
    /// - Returns: All of them, by their numbers, where it was the last that was missing.
    func add(_ device: ReadyDevice) -> [ReadyDevice]? {
        devices.withLock { devices in
            guard devices.updateValue(device, forKey: device.number) == nil, devices.count == count else { return nil }
            return devices.values.sorted { $0.number < $1.number }
        }
    }
}

extension [ReadyDevice] {
    /// What a script needs to use these devices and to end them, as one JSON object.
    ///
    /// - Parameters:
    ///   - control: The path at which they are controlled.
    ///   - seed: That of the first.
    ///   - isList: Whether there may be several.
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

    /// What a command has in its environment to find these devices: `PUMPCTL_PORT` for the first, and one for each family, as
    /// `PUMPCTL_PORT_LED`. Further devices of a family have their place among those behind it, as `PUMPCTL_PORT_LED_2`.
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

    /// The variable of the device of that number, from 1 on, among those of its family.
    fileprivate static func variable(of family: String, _ number: Int) -> String {
        "PUMPCTL_PORT_\(family.uppercased())" + (number > 1 ? "_\(number)" : "")
    }
}

extension Family {
    /// The family of a simulated device that this program was started with, as by `sim led --run`; nil where the endpoint is
    /// not that of one.
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
