internal import Glibc

/// Limits the number of running boards to the number of processors, so that no test's time-out passes while its board
/// waits for a processor.
actor FirmwareSlots {
    static let count = max(1, sysconf(CInt(_SC_NPROCESSORS_ONLN)))
    static let shared = FirmwareSlots(count: count)

    private var free: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(count: Int) { free = count }

    /// Waits until a board may run. Each call needs a later call of ``giveBack()``.
    func take() async {
        if free > 0 {
            free -= 1
        } else {
            await withCheckedContinuation { waiting.append($0) }
        }
    }

    func giveBack() {
        if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
    }
}
