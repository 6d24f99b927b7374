import Diagnosis
import LineProtocol
import Transports

extension Finding {
    /// The record of the finding, for programs.
    var record: ResultRecord {
        let record: ResultRecord = [
            "check": check.rawValue, "status": status.word, "port": subject, "finding": fact.words,
            "remedy": remedy?.words,
        ]
        return record.known
    }

    /// The finding on one line for people, and the remedy on a second line if there is one.
    var text: String {
        let mark = status.word + String(repeating: " ", count: 6 - status.word.count)
        return mark + (subject.map { "\($0): " } ?? "") + fact.words + (remedy.map { "\n      → \($0.words)" } ?? "")
    }
}

extension Finding.Status {
    /// The word for the status. An inconclusive check is shown as "ok", because it shows no problem.
    fileprivate var word: String {
        switch self {
        case .good, .unknown: "ok"
        case .warning: "warn"
        case .bad: "fail"
        }
    }
}

extension Fact {
    /// The text of the fact, with the names of pumpctl's commands.
    var words: String {
        switch self {
        case .text(let text): text
        case .advertisesAsExperiment(let version):
            "BlueZ \(version) supports advertising only as an experimental feature, so 'sim --ble' does not work"
        case .readsPhones:
            "bluetoothd reads the battery of a phone that connects to 'sim --ble': an iPhone then asks to pair"
        }
    }
}

extension Remedy {
    /// The instruction, with the command or option to type if there is one.
    var words: String {
        switch self {
        case .advice(let text), .command(_, let text): text
        case .nameBySocket(let endpoint): "keep the device in this socket, and use --port \(endpoint)"
        case .nameByAddress(let address): "name the device by its address: --port ble:\(address)"
        case .nameByAddressOrForget(let address, let name):
            "name the device by its address: --port ble:\(address); if this device has replaced the first: "
                + "pumpctl forget " + "ble:\(name.asEndpointName)".asWord
        case .nameShared(let endpoint):
            "use the port as before: pumpctl connects through pumpctld; or use --port \(endpoint)"
        case .leaveContainer(let needs): "run pumpctl on the computer itself, or give the container \(needs)"
        }
    }
}
