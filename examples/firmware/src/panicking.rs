//! The panic handler. In a release image it calls a function that does not exist, so that the image links
//! only if no panic can be reached. That it links is the proof.

#[cfg(not(any(debug_assertions, feature = "runtime-panics")))]
#[allow(unsafe_code)]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    unsafe extern "C" {
        fn this_image_can_panic() -> !;
    }
    // SAFETY: never linked, so never called.
    unsafe { this_image_can_panic() }
}

/// The exit status after a panic, as on a desktop.
#[cfg(any(debug_assertions, feature = "runtime-panics"))]
const PANICKED: u8 = 101;

#[cfg(any(debug_assertions, feature = "runtime-panics"))]
#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    defmt::error!("{}", defmt::Display2Format(info));
    crate::board::exit(PANICKED)
}
