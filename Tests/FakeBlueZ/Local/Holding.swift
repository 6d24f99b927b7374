public import TestSupport

/// Holds up what clients tell, as where the radio is busy: one value is read and not sent, and those behind it are not read.
public struct Holding: Sendable {
    /// Whether it does, and how many values are held up.
    public let state = Watched((isOn: false, count: 0))

    func hold() async {
        guard state.state.isOn else { return }
        state.update { $0.count += 1 }
        _ = try? await state.wait(for: "the end of holding", within: .seconds(300)) { $0.isOn ? nil : true }
        state.update { $0.count -= 1 }
    }
}
