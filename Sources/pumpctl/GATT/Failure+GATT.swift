import BlueZ
import LineProtocol
import Transports

extension Failure {
    /// Creates the failure for a name of a characteristic that fits none, or several, of the device.
    init(_ error: GATTReferenceError, at device: BLEDevice) {
        let (name, text, all) = (device.name, error.reference.text, error.all)
        if let first = error.fitting.first {
            let list = error.fitting.map { "\($0.handleName) in \($0.service)" }.joined(separator: ", ")
            self.init(
                .noInput, code: "ambiguous_characteristic",
                "\(name) has the characteristic \(text) \(error.fitting.count) times: \(list)",
                hint: "name one by its handle: \(first.handleName)", outcome: "not_sent")
            return
        }
        let list = all.prefix(8).map { "\($0.uuid)" }.joined(separator: ", ")
        self.init(
            .noInput, code: "no_characteristic", "\(name) has no characteristic \(text)",
            hint: all.isEmpty
                ? "check that this is the right device: it has no characteristics"
                : "name one of its characteristics: \(list)"
                    + (all.count > 8 ? ", …; list all: pumpctl gatt \(name.asWord)" : ""),
            outcome: "not_sent")
    }

    /// Creates the failure for a request to a characteristic.
    init(_ error: GATTRequestError, at device: BLEDevice) {
        switch error.cause {
        case .noAnswer(in: _, hint: let advice):
            self.init(
                .temporaryFailure, code: "no_answer", "\(error)",
                hint: advice ?? "bring the device nearer, or raise --timeout")
        case .refused:
            self.init(.refused, code: "refused", "\(error)", hint: "see the flags: pumpctl gatt \(device.name.asWord)")
        case .notWritable(let characteristic, let isConfirmed):
            let manner = isConfirmed.map { $0 ? " with a response" : " without a response" } ?? ""
            self.init(
                .usage, code: "not_writable",
                "\(characteristic.uuid) can't be written\(manner): its flags are "
                    + characteristic.flagWords.joined(separator: ", "),
                hint: characteristic.flags.isDisjoint(with: [.write, .writeWithoutResponse])
                    ? "choose another characteristic; list all: pumpctl gatt \(device.name.asWord)"
                    : "omit --\(isConfirmed == true ? "response" : "no-response")")
        case .tooLong(let count, let limit, let allowsMore):
            self.init(
                .usage, code: "too_long", "\(count) bytes are too long for one write, which holds \(limit)",
                hint: allowsMore ? "write the value with a response: omit --no-response" : "write the value in parts")
        case .notPossible(let reason): self.init(reason)
        case .link(let reason):
            self.init(reason)
            message = "\(error.activity): \(message)"
        }
        outcome = error.outcome.rawValue
        if error.outcome == .unknown { message += "; whether it was carried out is unknown" }
    }
}
