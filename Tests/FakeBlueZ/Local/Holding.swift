public import TestSupport

/// Holds up the clients' notifications, like a busy radio: one value is read but not sent, and the values after it are
/// not read.
public struct Holding: Sendable {
    /// Whether values are held up, and how many are.
    public let state = Watched((isOn: false, count: 0))

    func hold() async {
        guard state.state.isOn else { return }
        state.update { $0.count += 1 }
        _ = try? await state.wait(for: "the end of holding", within: .seconds(300)) { $0.isOn ? nil : true }
        state.update { $0.count -= 1 }
    }
}
